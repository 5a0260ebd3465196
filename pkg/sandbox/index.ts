/**
 * A small Kubernetes API in this process, for trying things out and for tests of controllers.
 *
 *     await using sandbox = await startSandbox();
 *     sandbox.kubeconfigFile;                       // for kubectl, and for any client
 *
 * It is a sandbox: every authenticated user may do everything (no RBAC), and there are no admission webhooks, no
 * aggregated servers, and no containers for logs or exec. Where it differs from the real API server, it is wrong.
 */
export type { Identity, SandboxCredentials } from './credentials.ts';
export { startSandbox } from './sandbox.ts';
export type { Sandbox, SandboxOptions } from './sandbox.ts';
export { usageSettings } from './metrics/index.ts';
