import type { Cached, Kind, KubeObject, ObjectKey } from '../pkg/api/index.ts';
import type { ListOptions } from '../pkg/client/index.ts';

/**
 * One cache of one kind, shared by every controller of the process, and the changes to it as events.
 *
 * Order: a handler receives the events of one object in the order of its resource versions. The store is at least as new
 * as any event that a handler has received. Duplicates: none. A relist may skip intermediate states. An object that was
 * deleted and created again during a gap is reported as `deleted` (missed) and `added`, never as an update.
 * Abort: the signal given to the factory's `start` ends every informer. Buffered events are not delivered.
 */
export interface Informer<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly store: Store<T>;
  /** The part of the kind that the server selects for the store. Without selectors and namespace: all of it. */
  readonly scope: InformerScope;
  /** The store holds the whole initial list. Each handler has its own view: see `HandlerRegistration`. */
  readonly hasSynced: boolean;
  /** Adding the same index again is fine, also after the start. */
  addIndex(index: Index<T>): void;
  /** Throws an `InformerError` if the informer was released: the handler would never be called. */
  addHandler(handler: Handler<T>, options?: HandlerOptions): HandlerRegistration;
  waitForSync(signal: AbortSignal): Promise<void>;
}

/** The read side of a cache. Reads are synchronous, copy nothing, and never ask the server. */
export interface Store<T extends KubeObject> {
  readonly size: number;
  get(key: ObjectKey): Cached<T> | undefined;
  /** Every object, or those of one namespace. */
  list(namespace?: string): readonly Cached<T>[];
  byIndex(index: Index<T>, value: string): readonly Cached<T>[];
  /** How many objects `byIndex` would return, without collecting them. */
  countByIndex(index: Index<T>, value: string): number;
  /** Whether the cache has observed this resource version: controllers wait for their own writes. */
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

/** Called synchronously and in order. An exception is logged and affects no other handler. */
export interface Handler<T extends KubeObject> {
  /** `initial`: part of the list that the handler found when it was added. */
  added?(object: Cached<T>, initial: boolean): void;
  /** Also called by a resync, with the same object twice. */
  updated?(before: Cached<T>, after: Cached<T>): void;
  /** `missed`: the delete event was lost, so `last` may be older than the deleted object. */
  deleted?(last: Cached<T>, missed: boolean): void;
}

export interface HandlerOptions {
  /** How often the cache is replayed to this handler as updates. Default: the informer's; 0: never. */
  readonly resyncMs?: number | undefined;
}

export interface HandlerRegistration {
  /** The handler has received the whole initial list. */
  readonly hasSynced: boolean;
  waitForSync(signal: AbortSignal): Promise<void>;
  remove(): void;
}

/** A part of a kind, selected by the server. Objects outside of it are neither sent nor cached. */
export type InformerSelection = Pick<ListOptions, 'labelSelector' | 'fieldSelector'>;

export type InformerScope = Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>;

/**
 * Makes one informer per kind for the whole process, and one more for its metadata alone or for a selection. Once the
 * process runs, an informer starts when it is first asked for.
 */
export interface InformerFactory {
  informerFor<T extends KubeObject>(kind: Kind<T>, selection?: InformerSelection): Informer<T>;
  /**
   * The informer of all objects of a kind, if it exists already: for callers that can use a cache but do not need one.
   */
  find<T extends KubeObject>(kind: Kind<T>): Informer<T> | undefined;
  /**
   * Ends the informer of a kind that is gone or no longer needed, and resolves when it has ended. A later `informerFor`
   * makes a new one. Has no effect while handlers are registered on it: another controller needs it.
   */
  release(kind: Kind, selection?: InformerSelection): Promise<void>;
}
