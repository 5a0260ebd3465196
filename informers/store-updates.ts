import { keyOf } from '../pkg/api/index.ts';
import type { Cached, KubeObject, ObjectKey } from '../pkg/api/index.ts';
import type { WatchEvent } from '../pkg/client/index.ts';
import { Fifo } from '../pkg/fifo/index.ts';
import type { Clock, Task, Turns } from '../pkg/time/index.ts';
import type { Indexer } from './indexer.ts';
import type { InformerMetrics } from './metrics.ts';
import type { Processor } from './processor.ts';

/** One change of the cache, as handlers receive it. */
export type Change<T extends KubeObject> =
  | { readonly type: 'added'; readonly object: Cached<T>; readonly initial: boolean }
  | { readonly type: 'updated'; readonly before: Cached<T>; readonly after: Cached<T> }
  | { readonly type: 'deleted'; readonly last: Cached<T>; readonly missed: boolean };

/** The whole state of the server at one resource version. */
export interface Relist<T extends KubeObject> {
  readonly objects: ReadonlyMap<ObjectKey, T>;
  readonly resourceVersion: string;
}

type Update<T extends KubeObject> =
  | { readonly type: 'events'; readonly events: readonly WatchEvent<T>[] }
  | { readonly type: 'relist'; readonly relist: Relist<T> };

export interface StoreUpdatesOptions<T extends KubeObject> {
  readonly turns: Turns;
  readonly indexer: Indexer<T>;
  /** Gets each change after the store shows it. */
  readonly processor: Pick<Processor<T>, 'distribute' | 'markSynced'>;
  /** Measures every change, if set. */
  readonly observe: { readonly clock: Clock; readonly metrics: InformerMetrics } | undefined;
}

/**
 * Writes what the reflector received into the store, in order, and hands each change to the processor.
 *
 * A relist is compared with the store only after everything that was received before it. So the comparison needs nothing
 * but the store: an object that the relist lacks was deleted unseen.
 */
export class StoreUpdates<T extends KubeObject> implements Task {
  readonly #options: StoreUpdatesOptions<T>;
  readonly #queue = new Fifo<Update<T>>();
  #length = 0;
  /** Position in the events at the head of the queue. */
  #position = 0;
  /** The first relist, while it is under way. */
  #filling: Iterator<unknown> | undefined;
  #synced = false;
  #changedAtMs: number | undefined;

  constructor(options: StoreUpdatesOptions<T>) {
    this.#options = options;
  }

  /** Objects and bookmarks that are not in the store yet. */
  get length(): number {
    return this.#length;
  }

  /** When the last update was applied, by the monotonic clock. Undefined without `observe`. */
  get changedAtMs(): number | undefined {
    return this.#changedAtMs;
  }

  /** The events of a watch that continues where the last push or relist ended. */
  push(events: readonly WatchEvent<T>[]): void {
    if (events.length === 0) return;
    this.#length += events.length;
    this.#queue.push({ type: 'events', events });
    this.#options.turns.wake(this);
  }

  replace(relist: Relist<T>): void {
    this.#length += relist.objects.size;
    this.#queue.push({ type: 'relist', relist });
    this.#options.turns.wake(this);
  }

  /** Queued updates are never applied. */
  close(): void {
    this.#options.turns.cancel(this);
  }

  run(hasTime: () => boolean): boolean {
    const { observe } = this.#options;
    for (let head = this.#queue.peek(); head !== undefined; head = this.#queue.peek()) {
      const startedMs = observe?.clock.monotonic() ?? 0;
      const done = head.type === 'events' ? this.#applyNext(head.events) : this.#applyRelist(head.relist);
      if (done) this.#queue.shift();
      if (observe !== undefined) {
        this.#changedAtMs = observe.clock.monotonic();
        observe.metrics.observeProcessing((this.#changedAtMs - startedMs) / 1000);
      }
      if (!hasTime()) break;
    }
    return this.#queue.length > 0;
  }

  #applyNext(events: readonly WatchEvent<T>[]): boolean {
    const event = events[this.#position++];
    if (event !== undefined) {
      this.#length--;
      this.#applyEvent(event);
    }
    if (this.#position < events.length) return false;
    this.#position = 0;
    return true;
  }

  #applyEvent(event: WatchEvent<T>): void {
    const { indexer, processor } = this.#options;
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
        this.#upsert(keyOf(event.object), event.object, false, event.object.metadata.resourceVersion);
        return;
      case 'DELETED': {
        const key = keyOf(event.object);
        const known = indexer.get(key) !== undefined;
        indexer.delete(key);
        indexer.advanceTo(event.object.metadata.resourceVersion);
        if (known) processor.distribute({ type: 'deleted', last: event.object as Cached<T>, missed: false });
        return;
      }
      case 'BOOKMARK':
        indexer.advanceTo(event.resourceVersion);
        return;
    }
  }

  /**
   * The first relist may pause at any object: nobody relies on the store before it has synced. A later relist does not
   * pause. A half-updated store would show objects of two versions side by side, and controllers would create or delete
   * objects to match. Few objects differ then, so the work is short.
   */
  #applyRelist(relist: Relist<T>): boolean {
    this.#filling ??= this.#relistSteps(relist);
    if (this.#synced) while (this.#filling.next().done !== true);
    else if (this.#filling.next().done !== true) return false;
    this.#filling = undefined;
    this.#options.indexer.advanceTo(relist.resourceVersion);
    if (this.#synced) return true;
    this.#synced = true;
    this.#options.processor.markSynced();
    return true;
  }

  *#relistSteps({ objects }: Relist<T>): Generator {
    const { indexer, processor } = this.#options;
    for (const [key, last] of indexer.entries()) {
      if (objects.has(key)) continue;
      indexer.delete(key);
      processor.distribute({ type: 'deleted', last, missed: true });
      yield;
    }
    for (const [key, object] of objects) {
      this.#length--;
      this.#upsert(key, object, !this.#synced);
      yield;
    }
  }

  #upsert(key: ObjectKey, object: T, initial: boolean, resourceVersion?: string): void {
    const { indexer, processor } = this.#options;
    const before = indexer.get(key);
    const after = object as Cached<T>;
    const isSame = before !== undefined && before.metadata.uid === object.metadata.uid;
    const isKnown = isSame && before.metadata.resourceVersion === object.metadata.resourceVersion;
    if (!isKnown) indexer.set(key, after);
    if (resourceVersion !== undefined) indexer.advanceTo(resourceVersion);
    if (isKnown) return; // a relist repeats unchanged objects
    if (isSame) {
      processor.distribute({ type: 'updated', before, after });
      return;
    }
    // Deleted and created again under the same name during a gap: two objects, not one update.
    if (before !== undefined) processor.distribute({ type: 'deleted', last: before, missed: true });
    processor.distribute({ type: 'added', object: after, initial });
  }
}
