import type { Cached, Kind, KubeObject, ObjectKey } from '../pkg/api/index.ts';
import type { ListOptions } from '../pkg/client/index.ts';

/**
 * One cache of one kind, shared by every controller of the process, and the changes to it as events.
 *
 * Order: the events of one object reach a handler in the order of its resource versions; the store is at least as new
 * as any event a handler has seen. Duplicates: none, but after a relist intermediate states may have been skipped.
 * An object that was deleted and created anew unseen is told as `deleted` (missed) and `added`, never as an update.
 * Abort: the signal given to the factory's `start` ends every informer; what is still buffered is not delivered.
 */
export interface Informer<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly store: Store<T>;
  /** The store holds the whole initial list. Each handler has its own view: see `HandlerRegistration`. */
  readonly hasSynced: boolean;
  /** Adding the same index again is fine, also after the start. */
  addIndex(index: Index<T>): void;
  addHandler(handler: Handler<T>, options?: HandlerOptions): HandlerRegistration;
  waitForSync(signal: AbortSignal): Promise<void>;
}

/** The read side of a cache. Nothing here waits, copies or asks the server. */
export interface Store<T extends KubeObject> {
  readonly size: number;
  get(key: ObjectKey): Cached<T> | undefined;
  /** Every object, or those of one namespace. */
  list(namespace?: string): readonly Cached<T>[];
  byIndex(index: Index<T>, value: string): readonly Cached<T>[];
  /** Whether the cache has caught up with this resource version, for controllers that wait to see their own writes. */
  hasSeen(resourceVersion: string): boolean;
  /** Resolves once `hasSeen` is true. */
  waitUntilSeen(resourceVersion: string, signal: AbortSignal): Promise<void>;
}

/** Finds objects by a value computed from them. Two indexes are the same if they are the same object. */
export interface Index<T extends KubeObject> {
  readonly name: string;
  valuesOf(object: Cached<T>): readonly string[];
}

export function defineIndex<T extends KubeObject>(
  name: string,
  valuesOf: (object: Cached<T>) => readonly string[],
): Index<T> {
  return { name, valuesOf };
}

/** Called synchronously and in order. What one handler throws is logged and reaches no other. */
export interface Handler<T extends KubeObject> {
  /** `initial`: part of the list that the handler found when it was added. */
  added?(object: Cached<T>, initial: boolean): void;
  /** Also called by a resync, with the same object twice. */
  updated?(before: Cached<T>, after: Cached<T>): void;
  /** `missed`: the deletion itself was not seen, `last` may be older than what was deleted. */
  deleted?(last: Cached<T>, missed: boolean): void;
}

export interface HandlerOptions {
  /** How often the cache is replayed to this handler as updates. Absent: the informer's default; 0: never. */
  readonly resyncMs?: number | undefined;
}

export interface HandlerRegistration {
  /** The handler has been given the whole initial list. */
  readonly hasSynced: boolean;
  waitForSync(signal: AbortSignal): Promise<void>;
  remove(): void;
}

/** Part of a kind, chosen by the server: what no controller reads is neither sent nor kept. */
export type InformerSelection = Pick<ListOptions, 'labelSelector' | 'fieldSelector'>;

/**
 * Makes one informer per kind for the whole process, and one more where the metadata or a selection alone is asked for.
 * Once the process is under way, an informer starts when it is first asked for.
 */
export interface InformerFactory {
  informerFor<T extends KubeObject>(kind: Kind<T>, selection?: InformerSelection): Informer<T>;
  /**
   * The informer of all objects of a kind, if someone has asked for it already: for whoever can do with less than a
   * cache, and would not have one made for its own sake.
   */
  find<T extends KubeObject>(kind: Kind<T>): Informer<T> | undefined;
  /**
   * Ends the informer of a kind that has gone or is not needed any more, and resolves when it has ended; a later
   * `informerFor` makes a new one. Does nothing while handlers are registered on it: someone else still needs it.
   */
  release(kind: Kind, selection?: InformerSelection): Promise<void>;
}
