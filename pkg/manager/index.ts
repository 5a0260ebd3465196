export { ManagerError } from './errors.ts';
export type { ManagerErrorReason } from './errors.ts';
export { runManager } from './run-manager.ts';
export type {
  Environment,
  LeaderElectionSettings,
  LogSettings,
  ManagerOptions,
  MigrationSettings,
  RequestSettings,
  ServerSettings,
} from './options.ts';
export type { ServerParts } from './serving.ts';
export { interrupted, stopOnSignals } from './signals.ts';
