import {
  apiVersionOf,
  isEqualJson,
  metadataOf,
  resourceName,
  type Cached,
  type Kind,
  type KubeObject,
  type MetadataOnly,
} from '../../pkg/api/index.ts';
import type { Discovery, DiscoveryResult } from '../../pkg/client/index.ts';
import type { ReconcileResult, Syncable } from '../../pkg/controller/index.ts';
import {
  createSharing,
  Latch,
  runReflector,
  type Informer,
  type InformerFactory,
  type ListWatchClient,
  type Sink,
  type InformerMetricsSource,
} from '../../informers/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { Counter } from '../../pkg/metrics/index.ts';
import { systemRandom, type Clock } from '../../pkg/time/index.ts';
import {
  createJoining,
  laterChange,
  relistedChange,
  releasedChange,
  watchedChange,
  type GraphChange,
  type ObservedEvent,
  type Origin,
} from './changes.ts';
import type { KnownKinds } from './live.ts';

export interface MonitorsDeps {
  readonly informers: InformerFactory;
  readonly client: ListWatchClient;
  readonly discovery: Discovery;
  readonly kinds: KnownKinds;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly syncErrors: Counter;
  /** The metrics of resources without a shared informer. */
  readonly informerMetrics: InformerMetricsSource;
  readonly enqueue: (change: GraphChange) => void;
  /** Definitions have changed, so the served resources may have changed. */
  readonly onDefinitionsChanged: () => void;
}

/** How often discovery is refreshed, and how long workers wait for the initial lists of all resources. */
export const syncPeriodMs = 30_000;
/** Discovery shows a new definition with some delay. So it is refreshed a few times in short intervals. */
const soonMs = 3000;
const quickRefreshes = 3;
/** The API server sends a bookmark every minute. A watch without an event for longer than this is dead. */
const idleTimeoutMs = 150_000;

/** Events are numerous and short-lived, and own nothing. */
const ignored: ReadonlySet<string> = new Set(['events', 'events.events.k8s.io']);
const definitions: ReadonlySet<string> = new Set([
  'customresourcedefinitions.apiextensions.k8s.io',
  'apiservices.apiregistration.k8s.io',
]);

interface Monitor extends Origin {
  readonly kind: Kind;
  readonly startedMs: number;
  readonly synced: Latch;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  isReportedLate: boolean;
}

/** The resources with objects that can be collected: they can be listed, watched and deleted. */
export function selectDeletable({ resources }: DiscoveryResult): Kind[] {
  const verbs = ['delete', 'list', 'watch'];
  return resources
    .filter((resource) => verbs.every((verb) => resource.verbs.has(verb)))
    .map(({ kind }) => kind)
    .filter((kind) => !ignored.has(resourceName(kind)));
}

/**
 * Watches all resources that can be deleted, as discovery lists them. Uses the shared informers of other controllers
 * where they exist. For other resources it watches the metadata and keeps no cache: the graph has all that it needs.
 */
export class Monitors implements Syncable {
  readonly #deps: MonitorsDeps;
  /** By resource. A resource is watched in one version. */
  readonly #monitors = new Map<string, Monitor>();
  readonly #discovered = new Latch();
  readonly #ending = new Set<Promise<void>>();
  #quickRefreshes = 0;

  constructor(deps: MonitorsDeps) {
    this.#deps = deps;
  }

  /** Whether the graph has all objects of all known resources. */
  get isSynced(): boolean {
    return this.#discovered.isOpen && this.#unsynced().length === 0;
  }

  /** Resolves when the graph is complete, or after a timeout: a resource that cannot be listed must not block the others. */
  async waitForSync(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    const late = new AbortController();
    const timer = clock.setTimer(syncPeriodMs, () => late.abort());
    const either = AbortSignal.any([signal, late.signal]);
    try {
      await this.#discovered.wait(either);
      await Promise.all([...this.#monitors.values()].map(({ synced }) => synced.wait(either)));
    } catch (error) {
      if (!late.signal.aborted) throw error;
      logger.warn(
        { resources: this.#unsynced() },
        'not all resources could be listed, collecting garbage without them',
      );
    } finally {
      timer.cancel();
    }
  }

  /** Refreshes discovery, and starts and stops watches accordingly. */
  async sync(signal: AbortSignal): Promise<ReconcileResult> {
    const { discovery, kinds, logger, syncErrors } = this.#deps;
    this.#reportLate();
    try {
      await discovery.refresh(signal);
      const preferred = await discovery.preferred(signal);
      kinds.replace((await discovery.all(signal)).resources);
      const deletable = selectDeletable(preferred);
      if (deletable.length === 0) throw new NothingDiscoveredError('discovery: the server lists no resources');
      if (preferred.failures.size > 0) {
        logger.info({ failures: Object.fromEntries(preferred.failures) }, 'failed to discover some groups');
      }
      this.#follow(deletable, preferred.failures);
      this.#discovered.open();
    } catch (error) {
      if (!signal.aborted) syncErrors.inc();
      throw error;
    }
    return { requeueAfterMs: this.#quickRefreshes-- > 0 ? soonMs : syncPeriodMs };
  }

  /** Stops all watches. Resolves when none is left. */
  async stop(): Promise<void> {
    for (const monitor of this.#monitors.values()) this.#end(monitor);
    this.#monitors.clear();
    await Promise.all(this.#ending);
  }

  #follow(deletable: readonly Kind[], failures: ReadonlyMap<string, string>): void {
    const wanted = new Map(deletable.map((kind) => [resourceName(kind), kind]));
    for (const [resource, { kind, synced }] of this.#monitors) {
      // Resources whose discovery failed are unknown, not removed.
      if (!wanted.has(resource) && failures.has(apiVersionOf(kind)) && synced.isOpen) wanted.set(resource, kind);
    }
    const former = [...this.#monitors].filter(([resource, { kind }]) => wanted.get(resource)?.version !== kind.version);
    for (const [resource, monitor] of former) {
      this.#monitors.delete(resource);
      this.#end(monitor);
    }
    const added = [...wanted].filter(([resource]) => !this.#monitors.has(resource));
    for (const [resource, kind] of added) this.#monitors.set(resource, this.#start(resource, kind));
    for (const [resource, monitor] of former) this.#release(monitor, this.#monitors.get(resource));
    if (former.length + added.length === 0) return;
    const names = { added: added.map(([resource]) => resource), removed: former.map(([resource]) => resource) };
    this.#deps.logger.info(names, 'watching other resources');
  }

  #start(resource: string, kind: Kind): Monitor {
    const origin = { resource, type: { apiVersion: apiVersionOf(kind), kind: kind.kind } };
    const synced = new Latch();
    const stop = new AbortController();
    const shared = this.#deps.informers.find(kind) ?? this.#deps.informers.find(metadataOf(kind));
    const running =
      shared === undefined
        ? this.#watchMetadata(kind, origin, synced, stop.signal)
        : this.#followInformer(shared, origin, synced, stop.signal);
    const ended = running.finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
    const startedMs = this.#deps.clock.monotonic();
    return { ...origin, kind, startedMs, synced, stop, ended, isReportedLate: false };
  }

  #watchMetadata(kind: Kind, origin: Origin, synced: Latch, signal: AbortSignal): Promise<void> {
    const { client, clock, logger, enqueue, informerMetrics } = this.#deps;
    const metrics = informerMetrics(kind);
    metrics.readQueuedItems(() => 0); // changes go directly to the queue of the graph
    const sink: Sink<MetadataOnly> = {
      push: (events) => {
        const changes = events.filter((event) => event.type !== 'BOOKMARK');
        if (changes.length === 0) return;
        const startedMs = clock.monotonic();
        enqueue(watchedChange(origin, changes));
        metrics.observeProcessing((clock.monotonic() - startedMs) / 1000);
        this.#noteDefinitions(origin);
      },
      replace: (relist) => enqueue(relistedChange(origin, relist, () => synced.open())),
    };
    const share = createSharing<MetadataOnly>();
    const transform = (object: MetadataOnly): MetadataOnly => share(trim(object));
    const source = { client, kind: metadataOf(kind), scope: {}, transform, sharesParts: true, sink };
    const settings = { ...source, clock, random: systemRandom, logger, idleTimeoutMs };
    return runReflector(settings, signal).finally(() => metrics.remove());
  }

  async #followInformer(
    informer: Informer<KubeObject>,
    origin: Origin,
    synced: Latch,
    signal: AbortSignal,
  ): Promise<void> {
    const { enqueue } = this.#deps;
    const join = createJoining(origin, enqueue);
    const tell = (type: ObservedEvent['type'], object: Cached<KubeObject>, initial = false): void => {
      join({ type, object });
      if (!initial) this.#noteDefinitions(origin);
    };
    const registration = informer.addHandler(
      {
        added: (object, initial) => tell('ADDED', object, initial),
        updated: (before, after) => {
          if (!hasSameReferences(before, after)) tell('MODIFIED', after);
          else this.#noteDefinitions(origin);
        },
        deleted: (last) => tell('DELETED', last),
      },
      { resyncMs: 0 },
    );
    try {
      await registration.waitForSync(signal);
      enqueue(laterChange(origin, () => synced.open()));
      await new Latch().wait(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      registration.remove();
    }
  }

  #noteDefinitions({ resource }: Origin): void {
    if (!definitions.has(resource)) return;
    this.#quickRefreshes = quickRefreshes;
    this.#deps.onDefinitionsChanged();
  }

  #end({ stop, synced }: Monitor): void {
    stop.abort();
    synced.open(); // ends all waits for this monitor
  }

  /** If the resource is now watched in another version, its objects stay in the graph until that version is listed. */
  #release(former: Monitor, successor: Monitor | undefined): void {
    const { enqueue } = this.#deps;
    if (successor === undefined) return enqueue(releasedChange(former));
    const released = successor.synced
      .wait(successor.stop.signal)
      .then(
        () => enqueue(releasedChange(former)),
        () => undefined, // aborted: the controller stops
      )
      .finally(() => this.#ending.delete(released));
    this.#ending.add(released);
  }

  #unsynced(): string[] {
    return [...this.#monitors.values()].filter(({ synced }) => !synced.isOpen).map(({ resource }) => resource);
  }

  /** Reports each resource once if its list takes longer than the sync period. */
  #reportLate(): void {
    const { clock, logger, syncErrors } = this.#deps;
    const late = [...this.#monitors.values()].filter(
      ({ synced, startedMs, isReportedLate }) =>
        !synced.isOpen && !isReportedLate && clock.monotonic() - startedMs >= syncPeriodMs,
    );
    if (late.length === 0) return;
    for (const monitor of late) monitor.isReportedLate = true;
    syncErrors.inc();
    logger.warn({ resources: late.map(({ resource }) => resource) }, 'resources cannot be listed');
  }
}

/** Whether the graph would not change: most updates are of a status. */
function hasSameReferences({ metadata: before }: Cached<KubeObject>, { metadata: after }: Cached<KubeObject>): boolean {
  return (
    before.deletionTimestamp === after.deletionTimestamp &&
    isEqualJson(before.ownerReferences, after.ownerReferences) &&
    isEqualJson(before.finalizers, after.finalizers)
  );
}

/** Drops labels and annotations: they are most of the metadata, and the graph does not need them. */
function trim({ metadata }: MetadataOnly): MetadataOnly {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const { ownerReferences, finalizers, deletionTimestamp } = metadata;
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      ownerReferences,
      finalizers,
      deletionTimestamp,
    },
  };
}

/** An empty discovery is a fault of the server: it must not stop every watch. */
class NothingDiscoveredError extends Error {
  override readonly name = 'NothingDiscoveredError';
  readonly reason = 'NothingDiscovered';
}
