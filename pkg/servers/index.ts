export { admin, openCluster, saveAddresses } from './access.ts';
export type { ClusterAccess, PlainResponse } from './access.ts';
export { credentialFiles, writeCredentials } from './credentials.ts';
export type { Identity } from './credentials.ts';
export { findFreePort } from './ports.ts';
export { ServerProcess } from './server-process.ts';
export { startServers } from './servers.ts';
export type { Cluster, ClusterOptions, ProcessCommand } from './servers.ts';
export { watchOver } from './watchdog.ts';
