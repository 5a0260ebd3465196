/**
 * A small Kubernetes API in this process, for trying things out and for tests of controllers.
 *
 *     await using sandbox = await startSandbox();
 *     sandbox.kubeconfigFile;                       // for kubectl, and for any client
 *
 * It is a sandbox: whoever is known may do everything (no RBAC), there are no admission webhooks, no aggregated servers,
 * no containers to log or exec into. Where it differs from the real API server, it is wrong.
 */
export type { Identity, SandboxCredentials } from './credentials.ts';
export { startSandbox } from './sandbox.ts';
export type { Sandbox, SandboxOptions } from './sandbox.ts';
