export { HealthChecks } from './health.ts';
export type { HealthCheck, HealthObserver, HealthPath } from './health.ts';
export { ServingError } from './options.ts';
export type {
  AuthenticationOptions,
  AuthorizationOptions,
  ContentOptions,
  MetricsSource,
  RequestHeaderOptions,
  ServerOptions,
  ServingOptions,
  StatusOptions,
} from './options.ts';
export { createServer } from './server.ts';
export type { Server } from './server.ts';
