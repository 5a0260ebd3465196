import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { ClientBuilder, loadKubeconfig } from '../client/index.ts';
import type { ControllerDefinition } from '../controller/index.ts';
import type { HollowNodesOptions } from '../hollow/index.ts';
import { silentLogger, type Logger } from '../log/index.ts';
import { installResources, type CrdManifest, type ResourceClient } from '../operator/index.ts';
import { AbortedError, systemClock } from '../time/index.ts';
import { ReconcileErrors, warningLogger } from './cluster-log.ts';
import { createClusterWaits, type ClusterWaits } from './cluster-waits.ts';
import { createUserClient } from './user-client.ts';

export interface TestClusterOptions {
  /**
   * `sandbox`: in this process, in milliseconds. `kube-apiserver`: the real one and its etcd, from the folder that
   * KUBEBUILDER_ASSETS names. Default: the real one if that variable is set.
   */
  readonly server?: 'sandbox' | 'kube-apiserver' | undefined;
  /** Custom resources to install. */
  readonly resources?: readonly { readonly crd: CrdManifest }[] | undefined;
  /** Controllers that run from the start: Kubernetes' own by their names, such as `deployment-controller`, and others. */
  readonly controllers?: readonly (string | ControllerDefinition)[] | undefined;
  /**
   * Simulated nodes, on which pods start, run and stop, without containers. Default 0. With the controllers that bind and
   * attach volumes, the default class `sandbox` provisions simulated ones.
   */
  readonly nodes?: number | undefined;
  /** Default: warnings and errors of the controllers go to stderr. `false`: silent. */
  readonly logger?: Logger | false | undefined;
  /**
   * The limit of `until` and `untilGone`. Default 4 s, a little less than that of a test, so that the test fails with the
   * state of the object. The variable TEST_CLUSTER_TIMEOUT_MS sets another default, for slow machines.
   */
  readonly timeoutMs?: number | undefined;
}

/** Controllers that run in a test cluster. */
export interface RunningControllers extends AsyncDisposable {
  /** Stops them as a signal would: running reconciles finish. Rejects with the error that ended them earlier. */
  stop(): Promise<void>;
}

/** A Kubernetes API for one test. */
export interface TestCluster extends AsyncDisposable, ClusterWaits {
  /** The path of a kubeconfig for the administrator. */
  readonly kubeconfig: string;
  /** Acts as the administrator. */
  readonly client: ResourceClient;
  /** Runs controllers as their operator does, without leader election. Resolves when their caches are synced. */
  run(...controllers: readonly ControllerDefinition[]): Promise<RunningControllers>;
  stop(): Promise<void>;
}

/** Starts a cluster. The caller stops it: `await using cluster = await startTestCluster({ … })`. */
export async function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { nodes = 0, resources = [], timeoutMs = defaultTimeoutMs() } = options;
  const errors = new ReconcileErrors();
  const logger = errors.follow(options.logger === false ? silentLogger : (options.logger ?? warningLogger()));
  await using stack = new AsyncDisposableStack();
  const definitions = await resolveControllers(options.controllers ?? []);
  const kubeconfig = await startServer(options, definitions, stack);
  const connection = await loadKubeconfig({ path: kubeconfig }, systemClock);
  const clients = stack.adopt(new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' }), (each) =>
    each.close(),
  );
  const ending = new AbortController();
  stack.defer(() => ending.abort(new AbortedError('the test cluster stops')));
  const client = clients.processClientFor('test');
  await installResources(resources, { client, clock: systemClock, fieldManager: 'test' }, ending.signal);
  const hollow = clients.processClientFor('hollow-nodes');
  const provisionsVolumes = needed.every((name) => definitions.some((each) => each.name === name));
  if (nodes > 0) await startNodes({ client: hollow, nodes, provisionsVolumes }, stack);
  const running = new Set<RunningControllers>();
  stack.defer(async () => {
    await Promise.all([...running].map((each) => each.stop()));
  });
  const run: TestCluster['run'] = async (...controllers) => {
    const started = await runControllers(controllers, { kubeconfig, logger });
    running.add(started);
    return started;
  };
  if (definitions.length > 0) await run(...definitions);
  const owned = stack.move();
  const stop = (): Promise<void> => owned.disposeAsync();
  const clientFor = (signal: AbortSignal): ResourceClient => createUserClient(client, signal);
  return {
    kubeconfig,
    client: clientFor(ending.signal),
    run,
    ...createClusterWaits({ clientFor, errors, timeoutMs, ending: ending.signal }),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The test cluster cannot be started with these options. */
export class TestClusterError extends Error {
  override readonly name = 'TestClusterError';
  readonly reason = 'InvalidTestCluster';
}

function defaultTimeoutMs(): number {
  const given = process.env['TEST_CLUSTER_TIMEOUT_MS'] ?? '4000';
  const timeoutMs = Number(given);
  if (timeoutMs > 0) return timeoutMs;
  throw new TestClusterError(`TEST_CLUSTER_TIMEOUT_MS: ${JSON.stringify(given)} is no time limit`);
}

/** Kubernetes' own controllers are loaded only if a test asks for one. */
async function resolveControllers(
  wanted: readonly (string | ControllerDefinition)[],
): Promise<readonly ControllerDefinition[]> {
  if (wanted.every((each) => typeof each !== 'string')) return wanted;
  const { controllers } = await import('../../controllers/registry.ts');
  return wanted.map((each) => {
    if (typeof each !== 'string') return each;
    const descriptor = controllers.find(({ name }) => name === each);
    if (descriptor !== undefined) return { name: each, create: descriptor.bind(new Map()) };
    const names = controllers.map(({ name }) => name).join(', ');
    throw new TestClusterError(`there is no controller ${JSON.stringify(each)}, but ${names}`);
  });
}

async function startServer(
  { server, logger }: TestClusterOptions,
  definitions: readonly ControllerDefinition[],
  stack: AsyncDisposableStack,
): Promise<string> {
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
  if ((server ?? (assets === '' ? 'sandbox' : 'kube-apiserver')) === 'sandbox') {
    const { startSandbox } = await import('../sandbox/index.ts');
    const makesServiceAccounts = definitions.every(({ name }) => name !== 'serviceaccount-controller');
    return stack.use(await startSandbox({ logger: logger || undefined, makesServiceAccounts })).kubeconfigFile;
  }
  const { startServers } = await import('../servers/index.ts');
  const programs = { etcd: join(assets, 'etcd'), apiServer: join(assets, 'kube-apiserver') };
  for (const path of Object.values(programs)) {
    if (!existsSync(path)) throw new TestClusterError(`KUBEBUILDER_ASSETS: there is no ${path}`);
  }
  // As in controller-runtime's envtest: pods are admitted in namespaces without service accounts.
  const extraApiServerFlags = ['--disable-admission-plugins=ServiceAccount'];
  return stack.use(await startServers(programs, { extraApiServerFlags })).kubeconfig();
}

/** Simulated volumes need these: one binds them to claims, the other attaches them. */
const needed = ['persistentvolume-binder-controller', 'persistentvolume-attach-detach-controller'];

async function startNodes(
  options: Pick<HollowNodesOptions, 'client' | 'nodes' | 'provisionsVolumes'>,
  stack: AsyncDisposableStack,
): Promise<void> {
  const { startHollowNodes } = await import('../hollow/index.ts');
  const stop = new AbortController();
  const deps = { clock: systemClock, logger: silentLogger };
  const hollow = await startHollowNodes({ ...deps, ...options, namePrefix: 'node' }, stop.signal);
  stack.defer(async () => {
    stop.abort(new AbortedError('the test cluster stops'));
    await hollow.stopped;
  });
}

async function runControllers(
  controllers: readonly ControllerDefinition[],
  { kubeconfig, logger }: { readonly kubeconfig: string; readonly logger: Logger },
): Promise<RunningControllers> {
  const { runManager } = await import('../manager/index.ts');
  const stop = new AbortController();
  const synced = Promise.withResolvers<void>();
  const running = runManager({
    name: 'test',
    controllers,
    kubeconfig,
    leaderElection: false,
    server: false,
    logger,
    freezeCaches: true,
    signal: stop.signal,
    onLeading: synced.resolve,
  });
  const stopAll = async (): Promise<void> => {
    stop.abort(new AbortedError('the test stops its controllers'));
    await running;
  };
  await Promise.race([synced.promise, running]); // it ends earlier only if it fails
  running.catch(() => {}); // reported by `stop`
  return { stop: stopAll, [Symbol.asyncDispose]: stopAll };
}
