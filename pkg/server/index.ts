export { HealthChecks } from './health.ts';
export type { HealthObserver, HealthPath } from './health.ts';
export { ServingError } from './options.ts';
export type { AuthenticationOptions, ServerOptions } from './options.ts';
export { createServer } from './server.ts';
export type { Server } from './server.ts';
