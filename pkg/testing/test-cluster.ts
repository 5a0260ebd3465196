import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { Kind, ObjectOf } from '../api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../client/index.ts';
import type { ControllerDefinition } from '../controller/index.ts';
import type { HollowNodesOptions } from '../hollow/index.ts';
import { silentLogger, type Logger } from '../log/index.ts';
import {
  createResourceClient,
  installResources,
  keyOfRef,
  type CrdManifest,
  type ObjectRef,
  type ResourceClient,
} from '../operator/index.ts';
import { AbortedError, systemClock } from '../time/index.ts';
import { until } from './until.ts';

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
  /** Default: silent. */
  readonly logger?: Logger | undefined;
}

/** Controllers that run in a test cluster. */
export interface RunningControllers extends AsyncDisposable {
  /** Stops them as a signal would: running reconciles finish. Rejects with the error that ended them earlier. */
  stop(): Promise<void>;
}

/** A Kubernetes API for one test. */
export interface TestCluster extends AsyncDisposable {
  /** The path of a kubeconfig for the administrator. */
  readonly kubeconfig: string;
  /** Acts as the administrator. */
  readonly client: ResourceClient;
  /** Runs controllers as their operator does, without leader election. Resolves when their caches are synced. */
  run(...controllers: readonly ControllerDefinition[]): Promise<RunningControllers>;
  /** Waits until the object exists and matches, and returns it. */
  until<K extends Kind>(kind: K, ref: ObjectRef, isWanted?: (object: ObjectOf<K>) => boolean): Promise<ObjectOf<K>>;
  /** Waits until the object is deleted. */
  untilGone(kind: Kind, ref: ObjectRef): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a cluster. The caller stops it: `await using cluster = await startTestCluster({ … })`. */
export async function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { nodes = 0, resources = [], logger = silentLogger } = options;
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
  const user = createResourceClient(client, { signal: ending.signal, fieldManager: 'test' });
  return {
    kubeconfig,
    client: user,
    run,
    until: (kind, ref, isWanted = () => true) =>
      until(async () => {
        const object = await user.get(kind, ref);
        if (isWanted(object)) return object;
        throw new UnmetError(`${kind.kind} ${keyOfRef(ref)} is ${JSON.stringify(object)}`);
      }, ending.signal),
    async untilGone(kind, ref) {
      await until(async () => (await user.find(kind, ref)) === undefined, ending.signal);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The object does not match yet. */
class UnmetError extends Error {
  override readonly name = 'UnmetError';
  readonly reason = 'Unmet';
}

/** The test cluster cannot be started with these options. */
export class TestClusterError extends Error {
  override readonly name = 'TestClusterError';
  readonly reason = 'InvalidTestCluster';
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
    return stack.use(await startSandbox({ logger, makesServiceAccounts })).kubeconfigFile;
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
