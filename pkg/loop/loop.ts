import { CoreEvents, resourceName, type KubeObject } from '../api/index.ts';
import type { Client, RefusedRequest, RequestObserver } from '../client/index.ts';
import {
  asError,
  currentTrace,
  type FinishedReconcile,
  type ObservedWork,
  type ReconcileObserver,
  type Trace,
} from '../controller/index.ts';
import type { Informer, Store } from '../../informers/index.ts';
import type { LeaderElector } from '../leaderelection/index.ts';
import type { Clock } from '../time/index.ts';
import { History } from './history.ts';
import { keyText } from './key-text.ts';
import { LaneCounters } from './lane.ts';
import { Notes } from './notes.ts';
import { composeObjectPage, eventLines, type ObjectPath } from './object-page.ts';
import type { Caches } from './picture-view.ts';
import type { EventLine, LoopState, ObjectPage, ReconcileRecord, Wait } from './protocol.ts';
import { TracedStore } from './traced-store.ts';

/** Reads, plans and requests are recorded for this long after somebody has looked. */
const recordForMs = 600_000;
/** An object that nobody has synced since the recording began is synced for its page, at most this often. */
const syncIntervalMs = 10_000;
const mostEvents = 50;

/** What a leader works with. */
export interface LeaderParts {
  readonly caches: Caches;
  readonly client: Pick<Client, 'list'>;
}

/**
 * Follows the control loops of one process for people who look. Outcomes and counters are always kept: a record of some
 * 200 bytes for each of the last thousand reconciles. What a reconcile reads, plans and requests is recorded only while
 * somebody looks.
 */
export class Loop implements ReconcileObserver, RequestObserver {
  readonly #clock: Clock;
  /** By controller and queue: a controller that crashed comes back with a new queue of the same name. */
  readonly #lanes = new Map<string, LaneCounters>();
  readonly #laneOf = new WeakMap<ObservedWork['queue'], LaneCounters>();
  readonly #history = new History();
  readonly #syncedAtMs = new Map<string, number>();
  #recordUntilMs = Number.NEGATIVE_INFINITY;
  #recordedSinceMs = 0;
  #isRecording = false;
  #records = 0;
  /** More than one during a leader migration. */
  readonly #terms = new Set<LeaderParts>();
  #caches: Caches | undefined;
  #elector: Pick<LeaderElector, 'inspect'> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Someone looks: records for the next ten minutes. */
  look(): void {
    const nowMs = this.#clock.monotonic();
    if (!this.#isRecording) this.#recordedSinceMs = this.#clock.now();
    this.#isRecording = true;
    this.#recordUntilMs = nowMs + recordForMs;
  }

  /** Controllers run with these caches, until the returned function is called. */
  leads(parts: LeaderParts): () => void {
    this.#terms.add(parts);
    this.#caches = joinCaches([...this.#terms]);
    return () => {
      this.#terms.delete(parts);
      this.#caches = joinCaches([...this.#terms]);
      if (this.#terms.size === 0) this.#lanes.clear();
    };
  }

  elects(elector: Pick<LeaderElector, 'inspect'>): void {
    this.#elector = elector;
  }

  /** The caches of this process; undefined while another process leads. */
  get caches(): Caches | undefined {
    return this.#caches;
  }

  /** The store of an informer as a controller reads it. */
  storeOf<T extends KubeObject>({ kind, store }: Pick<Informer<T>, 'kind' | 'store'>): Store<T> {
    return new TracedStore(kind, store, () => this.#isRecording);
  }

  working(work: ObservedWork): void {
    const lane = new LaneCounters(work);
    this.#lanes.set(`${work.name} ${work.queue.inspect(0).name}`, lane);
    this.#laneOf.set(work.queue, lane);
  }

  begin(): Trace | undefined {
    if (!this.#isRecording) return undefined;
    if (this.#clock.monotonic() < this.#recordUntilMs) return new Notes();
    this.#isRecording = false;
    this.#syncedAtMs.clear();
    return undefined;
  }

  finished(reconcile: FinishedReconcile): void {
    const lane = this.#laneOf.get(reconcile.work.queue);
    if (lane === undefined) return; // work that is not of a controller's own objects
    lane.count(reconcile, this.#clock.monotonic());
    this.#history.add({ record: this.#recordOf(reconcile), resource: lane.resource });
  }

  requestFinished(request: Parameters<RequestObserver['requestFinished']>[0]): void {
    if (this.#isRecording) notes()?.requested(request);
  }

  requestRefused(request: RefusedRequest): void {
    if (this.#isRecording) notes()?.refused(request);
  }

  state(): LoopState {
    const nowMs = this.#clock.monotonic();
    const { lock, ...lease } = this.#elector?.inspect() ?? {};
    return {
      lease: lock && {
        name: `${lock.namespace}/${lock.name}`,
        holder: '',
        isOurs: false,
        durationMs: 0,
        renewedAgoMs: undefined,
        ...lease,
      },
      lanes: [...this.#lanes.values()].map((lane) => lane.show(nowMs)),
      caches: (this.#caches?.inspect() ?? []).map(({ kind, size, hasSynced, changedAtMs }) => ({
        name: `${resourceName(kind)}${kind.metadataOnly === true ? ' (metadata)' : ''}`,
        size,
        synced: hasSynced,
        changedAgoMs: changedAtMs === undefined ? undefined : nowMs - changedAtMs,
      })),
    };
  }

  /** Keeps the history of an object while somebody looks at it, until the returned function is called. */
  follow({ kind, key }: ObjectPath): () => void {
    return this.#history.follow(resourceName(kind), key);
  }

  /**
   * Has an object synced that has no record of what was read and planned: somebody looks for the reason why it does not
   * move, and a controller that waits would tell nothing. A sync more is harmless: controllers compare states.
   */
  syncOnce(path: ObjectPath): void {
    const resource = resourceName(path.kind);
    const id = `${resource} ${path.key}`;
    const nowMs = this.#clock.monotonic();
    const isRecorded = this.#history.of(resource, path.key).some(({ reads }) => reads.length > 0);
    if (isRecorded || nowMs - (this.#syncedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < syncIntervalMs) return;
    if (this.#caches?.find(path.kind)?.store.get(path.key) === undefined) return;
    const lanes = this.#lanesOf(resource);
    if (lanes.length > 0) this.#syncedAtMs.set(id, nowMs);
    for (const lane of lanes) lane.work.queue.add(path.key);
  }

  objectPage(path: ObjectPath, events: readonly EventLine[]): ObjectPage | undefined {
    const caches = this.#caches;
    if (caches === undefined) return undefined;
    const history = this.#history.of(resourceName(path.kind), path.key);
    const facts = { waits: this.#waitsOf(path), history, events, recordedSinceMs: this.#recordedSinceMs };
    return composeObjectPage(caches, path, facts);
  }

  /** Asks the API server: events are not cached. */
  async eventsOf({ kind, namespace, name }: ObjectPath, signal: AbortSignal): Promise<readonly EventLine[]> {
    const fieldSelector = `involvedObject.kind=${kind.kind},involvedObject.name=${name}`;
    const options = { namespace: namespace ?? 'default', fieldSelector, limit: 500 };
    const [term] = this.#terms;
    const list = await term?.client.list(CoreEvents, options, signal);
    return eventLines(list?.items ?? []).slice(0, mostEvents);
  }

  #recordOf({ work, key, outcome, durationMs, error, requeueAfterMs, trace }: FinishedReconcile): ReconcileRecord {
    const { reads, plan, requests } = trace instanceof Notes ? trace : untraced;
    return {
      id: ++this.#records,
      controller: work.name,
      key: keyText(key),
      startedMs: this.#clock.now() - durationMs,
      durationMs,
      outcome,
      error: error === undefined ? undefined : asError(error).message,
      requeueAfterMs,
      reads,
      plan,
      requests,
    };
  }

  #waitsOf({ kind, key }: ObjectPath): Wait[] {
    return this.#lanesOf(resourceName(kind)).flatMap(({ work }) => {
      const place = work.queue.find(key);
      return place === undefined ? [] : [{ controller: work.name, ...place }];
    });
  }

  #lanesOf(resource: string): LaneCounters[] {
    return [...this.#lanes.values()].filter((lane) => lane.resource === resource);
  }
}

function joinCaches(terms: readonly LeaderParts[]): Caches | undefined {
  if (terms.length === 0) return undefined;
  return {
    find(kind) {
      for (const { caches } of terms) {
        const found = caches.find(kind);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    // The first one last: it is the one that `find` returns, and whoever looks a kind up keeps the last.
    inspect: () => terms.toReversed().flatMap(({ caches }) => caches.inspect()),
  };
}

const untraced: Pick<ReconcileRecord, 'reads' | 'plan' | 'requests'> = { reads: [], plan: [], requests: [] };

function notes(): Notes | undefined {
  const trace = currentTrace();
  return trace instanceof Notes ? trace : undefined;
}
