import {
  Deployments,
  EndpointSlices,
  Jobs,
  Namespaces,
  isConditionTrue,
  objectKey,
  PodDisruptionBudgets,
  Pods,
  StatefulSets,
  type Deployment,
  type Kind,
  type KubeObject,
  type StatefulSet,
} from '../../../pkg/api/index.ts';
import { ClientBuilder, isConflict, isNotFound, loadKubeconfig, type Client } from '../../../pkg/client/index.ts';
import { startHollowNodes } from '../../../pkg/hollow/index.ts';
import { systemClock } from '../../../pkg/time/index.ts';
import { startCluster, type Cluster } from '../../cluster/index.ts';
import { createNamespace } from '../../suites/use-cluster.ts';
import { silentLogger } from '../../support/loggers.ts';

/** A cluster with hollow nodes, with functions to create objects and to wait for them. */
export class Stage implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly #dispose: () => Promise<void>;

  readonly #parts = new AsyncDisposableStack();

  private constructor(cluster: Cluster, client: Client, signal: AbortSignal, dispose: () => Promise<void>) {
    this.cluster = cluster;
    this.client = client;
    this.signal = signal;
    this.#dispose = dispose;
  }

  /** Without nodes, pods stay pending. */
  static async open(nodes: number): Promise<Stage> {
    const cluster = await startCluster();
    const stop = new AbortController();
    const connection = await loadKubeconfig({ path: cluster.kubeconfig() }, systemClock);
    const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'bench' });
    const options = { client: clients.clientFor('hollow-nodes'), clock: systemClock, logger: silentLogger, nodes };
    const hollow = nodes > 0 ? await startHollowNodes(options, stop.signal) : undefined;
    return new Stage(cluster, clients.clientFor('bench'), stop.signal, async () => {
      stop.abort();
      await hollow?.stopped;
      clients.close();
      await cluster.stop();
    });
  }

  /** Adds what must end before the cluster stops. */
  use(part: AsyncDisposable): void {
    this.#parts.use(part);
  }

  createNamespace(): Promise<string> {
    return createNamespace(this.cluster, 'bench');
  }

  /** Creates many objects, 32 at a time. */
  async createAll<T extends KubeObject>(kind: Kind<T>, objects: readonly object[]): Promise<void> {
    const queue = objects.values();
    let refused = 0;
    const create = async (object: object): Promise<void> => {
      try {
        await this.client.create(kind, object as T, this.signal);
      } catch (error) {
        if (!isConflict(error)) throw error;
        refused++; // others write the quota of the namespace, and the API server gave up charging it
        await create(object);
      }
    };
    const worker = async (): Promise<void> => {
      for (const object of queue) await create(object);
    };
    await Promise.all(Array.from({ length: 32 }, worker));
    if (refused > 0) console.log(`${refused} of ${objects.length} ${kind.resource} were refused once: conflict`);
  }

  /** Follows the objects of a kind in the namespace, or in all, until they are as wanted. */
  async until<T extends KubeObject>(
    kind: Kind<T>,
    namespace: string | undefined,
    areDone: (objects: readonly T[]) => boolean,
  ): Promise<void> {
    let objects: Map<string, T> | undefined;
    const stop = new AbortController();
    const follow = async (): Promise<never> => {
      for (;;) {
        const { items, metadata } = await this.client.listAll(kind, { namespace, resourceVersion: '0' }, stop.signal);
        const known = new Map(items.map((item) => [item.metadata.uid, item]));
        objects = known;
        const { resourceVersion } = metadata;
        for await (const event of this.client.watch(kind, { namespace, resourceVersion }, stop.signal)) {
          if (event.type === 'BOOKMARK') continue;
          if (event.type === 'DELETED') known.delete(event.object.metadata.uid);
          else known.set(event.object.metadata.uid, event.object);
        }
        // The server ends a watch that is not read fast enough: this process runs the nodes too.
      }
    };
    const following = follow();
    const look = async (): Promise<void> => {
      const isDone = (): boolean => objects !== undefined && areDone([...objects.values()]);
      while (!isDone()) await systemClock.sleep(lookMs, this.signal);
    };
    try {
      await Promise.race([look(), following]);
    } finally {
      stop.abort();
      await following.catch(() => {}); // has been thrown above, or is the abort
    }
  }

  untilAvailable(namespace: string, deployments: number): Promise<void> {
    return this.until(Deployments, namespace, (found) => found.filter(isRolledOut).length === deployments);
  }

  /** Until this many StatefulSets have all pods at their newest revision. */
  untilOrdered(namespace: string, sets: number): Promise<void> {
    return this.until(StatefulSets, namespace, (found) => found.filter(isRolledOut).length === sets);
  }

  untilJobsComplete(namespace: string, jobs: number): Promise<void> {
    const isComplete = ({
      status,
    }: {
      status?: { conditions?: { type: string; status: string }[] | undefined } | undefined;
    }): boolean =>
      status?.conditions?.some(({ type, status: value }) => type === 'Complete' && value === 'True') === true;
    return this.until(Jobs, namespace, (found) => found.filter(isComplete).length === jobs);
  }

  untilReadyEndpoints(namespace: string, addresses: number, old: ReadonlySet<string> = new Set()): Promise<void> {
    return this.until(EndpointSlices, namespace, (slices) => {
      const ready = slices.flatMap(({ endpoints }) =>
        (endpoints ?? []).filter(({ conditions }) => conditions?.ready === true),
      );
      return ready.length === addresses && !ready.some(({ addresses: [address = ''] }) => old.has(address));
    });
  }

  /** Until the only budget counts this many healthy pods, and allows what it should. */
  untilHealthy(namespace: string, pods: number): Promise<void> {
    return this.until(PodDisruptionBudgets, namespace, (budgets) =>
      budgets.some(
        ({ status }) =>
          status?.currentHealthy === pods && status.disruptionsAllowed === pods - (status.desiredHealthy ?? 0),
      ),
    );
  }

  /** Until there are this many ready pods, none of them one of those. */
  untilReplaced(
    namespace: string,
    { app, count, without }: { readonly app: string; readonly count: number; readonly without: ReadonlySet<string> },
  ): Promise<void> {
    return this.until(Pods, namespace, (pods) => {
      const ready = pods.filter(
        ({ metadata, status }) => metadata.labels?.['app'] === app && isConditionTrue(status?.conditions, 'Ready'),
      );
      return ready.length === count && !ready.some(({ metadata }) => without.has(metadata.name));
    });
  }

  async untilGone(namespace: string): Promise<void> {
    for (;;) {
      try {
        await this.client.get(Namespaces, objectKey(undefined, namespace), this.signal);
      } catch (error) {
        if (isNotFound(error)) return;
        throw error;
      }
      await systemClock.sleep(lookMs, this.signal);
    }
  }

  async untilPods(namespace: string, count: number): Promise<void> {
    await this.until(Pods, namespace, (pods) => pods.length === count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
    await this.#dispose();
  }
}

const lookMs = 20;

function isRolledOut({ metadata, spec, status }: Deployment | StatefulSet): boolean {
  const { replicas = 1 } = spec;
  const isCurrent = status?.observedGeneration === metadata.generation;
  const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
  return isCurrent && counts.every((count) => count === replicas);
}
