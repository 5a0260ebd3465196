import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { controllers } from '../../controllers/registry.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { startHollowNodes } from '../../pkg/hollow/index.ts';
import { createLoopPages, Loop } from '../../pkg/loop/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { startSandbox, type Sandbox } from '../../pkg/sandbox/index.ts';
import { AbortedError, systemClock, systemRandom } from '../../pkg/time/index.ts';
import { cloudFlags, runCloud } from './cloud.ts';
import { runManager } from './manager.ts';
import { startPageServer, type PageServer } from './page-server.ts';
import { describeTry, tries } from './tries.ts';

export interface SandboxClusterOptions {
  readonly dataDir?: string | undefined;
  readonly port?: number | undefined;
  /** The feature gates of the API that are on. Default: none. */
  readonly featureGates?: readonly string[] | undefined;
  /** Simulated nodes. Default: 3. */
  readonly nodes?: number | undefined;
  /** Whether the controller manager runs. Default: true. */
  readonly controllers?: boolean | undefined;
  /** Whether a simulated cloud provides load balancers, routes and machines. Default: true, if controllers run. */
  readonly cloud?: boolean | undefined;
  /** Flags of the controller manager, such as `--controllers=deployment-controller`. */
  readonly managerFlags?: readonly string[] | undefined;
  /** Port of the page on loopback. Default: any free one. */
  readonly pagePort?: number | undefined;
  readonly logger: Logger;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface SandboxCluster extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly client: Client;
  /** The page that shows the controllers at work; undefined without controllers. */
  readonly loopUrl: string | undefined;
  /** Rejects with the reason when the manager or the nodes fail. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** Starts an API, nodes and controllers in this process. They communicate over HTTPS, as in a cluster. */
export async function startSandboxCluster(options: SandboxClusterOptions): Promise<SandboxCluster> {
  const { logger, nodes = 3, dataDir, port, featureGates } = options;
  const withControllers = options.controllers !== false;
  const withCloud = withControllers && options.cloud !== false;
  const hasAccountController = withControllers && controllers.some(({ name }) => name === 'serviceaccount-controller');
  await using stack = new AsyncDisposableStack();
  const makesServiceAccounts = !hasAccountController;
  const sandbox = stack.use(
    await startSandbox({ dataDir, port, logger, featureGates, makesServiceAccounts, servesMetrics: nodes > 0 }),
  );
  const connection = await loadKubeconfig({ path: sandbox.kubeconfigFile }, systemClock);
  const clients = stack.adopt(new ClientBuilder({ connection, clock: systemClock, userAgent: 'sandbox' }), (each) =>
    each.close(),
  );
  const loop = new Loop(systemClock);
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => {}); // handled by the users of `failed`
  const inBackground = (running: Promise<unknown>, until: AbortController): void => {
    running.catch((error: unknown) => failure.reject(error));
    stack.defer(async () => {
      until.abort(new AbortedError('the sandbox stops'));
      await running.catch(() => undefined); // already reported, or the abort
    });
  };
  if (nodes > 0) {
    const until = new AbortController();
    const client = clients.processClientFor('hollow-nodes', { qps: 0 });
    // A real container takes about as long to start and to stop, and the demo stays readable.
    const pace = { podReadyDelayMs: 400, podStopDelayMs: 300 };
    const base = { client, clock: systemClock, logger, nodes, namePrefix: 'node' };
    const hollow = await startHollowNodes(
      { ...base, provisionsVolumes: withControllers, externalCloud: withCloud, ...pace },
      until.signal,
    );
    inBackground(hollow.stopped, until);
  }
  if (withControllers) {
    const until = new AbortController();
    const deps = { controllers, logger, environment: options.environment ?? {}, loop };
    const flags = [...managerFiles(sandbox), ...(withCloud ? cloudFlags : []), ...(options.managerFlags ?? [])];
    inBackground(runManager(flags, deps, until.signal), until);
  }
  if (withCloud) {
    const until = new AbortController();
    inBackground(runCloud(sandbox.kubeconfigFile, logger, until.signal), until);
  }
  const client = clients.processClientFor('sandbox', { qps: 0 });
  const page = withControllers
    ? stack.use(await servePage({ sandbox, client, loop, logger, port: options.pagePort }))
    : undefined;
  const owned = stack.move();
  const stop = (): Promise<void> => owned.disposeAsync();
  return {
    sandbox,
    client,
    loopUrl: page?.url,
    failed: failure.promise,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface PageParts {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly loop: Loop;
  readonly logger: Logger;
  readonly port: number | undefined;
}

function servePage({ sandbox, client, loop, logger, port }: PageParts): Promise<PageServer> {
  const clock = systemClock;
  const pages = createLoopPages({ loop, clock, settings: { name: 'sandbox', tries: tries.map(describeTry) } });
  return startPageServer({ pages, tries, deps: { client, sandbox, clock, random: systemRandom }, logger, port });
}

/** The flags that kubeadm sets for the manager, as far as a sandbox has the files. */
function managerFiles({ kubeconfigFile, credentials }: Sandbox): string[] {
  const directory = join(dirname(kubeconfigFile), 'manager');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const { authority, tokenKey } = credentials;
  return [
    `--kubeconfig=${kubeconfigFile}`,
    `--root-ca-file=${write('ca.crt', authority.certificate)}`,
    `--service-account-private-key-file=${write('sa.key', tokenKey)}`,
    '--use-service-account-credentials=true',
    '--secure-port=0',
    '--leader-elect=true',
  ];
}
