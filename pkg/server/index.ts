export { createAccessMetrics } from './access-metrics.ts';
export { HealthChecks } from './health.ts';
export type { HealthCheck, HealthObserver, HealthPath } from './health.ts';
export { needsAuthorities, ServingError } from './options.ts';
export type { AuthenticationOptions, ContentOptions, ServerOptions } from './options.ts';
export { createPlainServer } from './plain-server.ts';
export { createServer } from './server.ts';
export type { Server } from './server.ts';
