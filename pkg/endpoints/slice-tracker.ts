import {
  EndpointSlices,
  keyOf,
  type Cached,
  type EndpointSlice,
  type Kind,
  type KubeObject,
  type ObjectKey,
} from '../api/index.ts';
import { PendingWrites, type OwnWrites, type WrittenCache } from '../controller/index.ts';
import type { Clock } from '../time/index.ts';

type SliceMetadata = Cached<KubeObject>['metadata'];

interface SliceEvent {
  readonly uid: string;
  readonly generation: number;
  readonly isDeletion: boolean;
}

interface Tracked {
  /** The newest generation that we wrote to each slice, by uid. Infinity after we deleted the slice. */
  readonly generations: Map<string, number>;
  /** Events during a sync's writes. The answers to these writes may show that the events are our own. */
  undecided: SliceEvent[] | undefined;
}

/**
 * The own writes to the slices of each Service. It answers two questions. Has the cache observed these writes? A sync on
 * a stale cache would create a slice twice. Was an event caused by an own write? Then the Service needs no other sync.
 */
export class SliceTracker implements OwnWrites {
  readonly kind: Kind = EndpointSlices;
  readonly #pending: PendingWrites<EndpointSlice>;
  readonly #services = new Map<ObjectKey, Tracked>();

  constructor(slices: WrittenCache<EndpointSlice>, clock: Pick<Clock, 'monotonic'>) {
    this.#pending = new PendingWrites<EndpointSlice>(slices, clock);
  }

  isSettled(service: ObjectKey): boolean {
    return this.#pending.isSettled(service);
  }

  /** Call it before the first write of a sync. */
  begin(service: ObjectKey): void {
    this.#trackedOf(service).undecided = [];
  }

  /** Call it after the last write of a sync, also after an error. True if another client wrote meanwhile. */
  end(service: ObjectKey): boolean {
    const tracked = this.#services.get(service);
    const events = tracked?.undecided ?? [];
    if (tracked !== undefined) tracked.undecided = undefined;
    // Check all events: `isOwn` also drops the generation of a deleted slice.
    return events.filter((event) => tracked !== undefined && !isOwn(tracked, event)).length > 0;
  }

  wrote(service: ObjectKey, { uid, generation = 0, resourceVersion }: SliceMetadata): void {
    this.#pending.wrote(service, resourceVersion);
    this.#trackedOf(service).generations.set(uid, generation);
  }

  deleted(service: ObjectKey, slice: Cached<EndpointSlice>): void {
    this.#pending.deleted(service, keyOf(slice), slice.metadata.uid);
    this.#trackedOf(service).generations.set(slice.metadata.uid, Infinity);
  }

  /** Whether another client wrote this state of the slice, or deleted it. */
  isForeignChange(service: ObjectKey, slice: Cached<EndpointSlice>, isDeletion = false): boolean {
    const tracked = this.#services.get(service);
    if (tracked === undefined) return true;
    const event = { uid: slice.metadata.uid, generation: slice.metadata.generation ?? 0, isDeletion };
    if (tracked.undecided === undefined) return !isOwn(tracked, event);
    tracked.undecided.push(event);
    return false;
  }

  forget(service: ObjectKey): void {
    this.#services.delete(service);
    this.#pending.forget(service);
  }

  #trackedOf(service: ObjectKey): Tracked {
    let tracked = this.#services.get(service);
    if (tracked === undefined) {
      tracked = { generations: new Map(), undecided: undefined };
      this.#services.set(service, tracked);
    }
    return tracked;
  }
}

function isOwn({ generations }: Tracked, { uid, generation, isDeletion }: SliceEvent): boolean {
  const known = generations.get(uid);
  if (!isDeletion) return known !== undefined && generation <= known;
  generations.delete(uid);
  return known === Infinity;
}
