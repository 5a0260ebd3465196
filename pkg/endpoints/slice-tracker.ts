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
  /** The newest generation of each slice that we know of, by uid; infinite once we have deleted it. */
  readonly generations: Map<string, number>;
  /** Events that came while writes were under way, whose answers may yet explain them. */
  unexplained: SliceEvent[] | undefined;
}

/**
 * What a controller has written to the slices of each Service. It answers two questions: whether the cache has caught
 * up, for on an older one a slice would be created a second time; and whether an event is news, or only the echo of an
 * own write, which would cost the Service another sync.
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

  /** To be called before the first write of a sync. */
  begin(service: ObjectKey): void {
    this.#trackedOf(service).unexplained = [];
  }

  /** To be called after the last write of a sync, also of one that failed. True if somebody else wrote meanwhile. */
  end(service: ObjectKey): boolean {
    const tracked = this.#services.get(service);
    const events = tracked?.unexplained ?? [];
    if (tracked !== undefined) tracked.unexplained = undefined;
    // All are looked at, because looking at a deletion also forgets the slice.
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

  /** Whether this state of a slice, or its deletion, is somebody else's work. */
  isNews(service: ObjectKey, slice: Cached<EndpointSlice>, isDeletion = false): boolean {
    const tracked = this.#services.get(service);
    if (tracked === undefined) return true;
    const event = { uid: slice.metadata.uid, generation: slice.metadata.generation ?? 0, isDeletion };
    if (tracked.unexplained === undefined) return !isOwn(tracked, event);
    tracked.unexplained.push(event);
    return false;
  }

  forget(service: ObjectKey): void {
    this.#services.delete(service);
    this.#pending.forget(service);
  }

  #trackedOf(service: ObjectKey): Tracked {
    let tracked = this.#services.get(service);
    if (tracked === undefined) {
      tracked = { generations: new Map(), unexplained: undefined };
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
