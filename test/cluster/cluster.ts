import { startServers, type Cluster, type ClusterOptions } from '../../pkg/servers/index.ts';
import { binaryPath } from './binaries.ts';
import { startSandboxCluster } from './sandbox-cluster.ts';

/** The server under test: `npm run test:cluster -- --server=sandbox`. */
export const isSandbox: boolean = process.env['CLUSTER_SERVER'] === 'sandbox';

/** Starts etcd and an API server, or a sandbox in their place. Resolves when they are ready. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  if (isSandbox) return startSandboxCluster(options);
  const programs = { etcd: await binaryPath('etcd'), apiServer: await binaryPath('kube-apiserver') };
  return startServers(programs, options);
}
