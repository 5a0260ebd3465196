import {
  keyOf,
  resourceName,
  type Cached,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type ObjectOf,
} from '../api/index.ts';
import {
  enqueueControllerOwner,
  enqueueMapped,
  type ControllerContext,
  type KeySink,
  type Syncable,
} from '../controller/index.ts';
import type { Handler, Index, Informer, InformerSelection, Store } from '../../informers/index.ts';
import { DefinitionError } from './definition-error.ts';
import { createKindStore, scopedKeyOf, type KindStore } from './kind-store.ts';
import { additionPasses, updatePasses, type Predicate } from './predicates.ts';
import { keyOfRef, type ObjectRef } from './resource-client.ts';
import { membershipIn } from './selection.ts';

/** The caches of the kinds that a controller has named. */
export interface Stores {
  /** Throws for a kind that the controller has not named: its cache would always be empty. */
  store<K extends Kind>(kind: K): KindStore<ObjectOf<K>>;
}

export interface CacheOptions<T extends KubeObject> extends InformerSelection {
  /** Indexes for `store(kind).byIndex`. */
  readonly indexes?: readonly Index<T>[] | undefined;
}

export interface WatchOptions<T extends KubeObject> extends CacheOptions<T> {
  /** The objects to reconcile when this one changes. It is called with the states before and after an update. */
  readonly map?: ((object: Cached<T>, stores: Stores) => Iterable<ObjectRef>) | undefined;
  readonly when?: Predicate<T> | undefined;
}

/** A kind that a controller watches, with options. The options' type is checked by `watch`. */
export interface Watch {
  readonly watched: Kind;
  readonly options: WatchOptions<KubeObject>;
}

/** Watches a kind with options: a mapping, a predicate, a selection by labels or fields, indexes. */
export function watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions<T>): Watch {
  return { watched: kind, options: options as unknown as WatchOptions<KubeObject> };
}

export type Watchable = Kind | Watch;

export function asWatch(given: Watchable): Watch {
  return 'watched' in given ? given : { watched: given, options: {} };
}

/** The part of a kind that is watched. */
export function selectionOf({ labelSelector, fieldSelector }: InformerSelection): InformerSelection {
  return {
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  };
}

/** The informers of one run of a controller. */
export class Watches implements Stores {
  readonly caches: Syncable[] = [];
  readonly #context: ControllerContext;
  readonly #controllerName: string;
  readonly #informers = new Map<string, Informer<KubeObject>>();

  constructor(controllerName: string, context: ControllerContext) {
    this.#controllerName = controllerName;
    this.#context = context;
  }

  /** One informer per kind, also if the kind is named several times. */
  cache({ watched, options }: Watch): Informer<KubeObject> {
    const { indexes = [] } = options;
    let informer = this.#informers.get(resourceName(watched));
    if (informer === undefined) {
      informer = this.#context.informers.informerFor(watched, selectionOf(options));
      this.#informers.set(resourceName(watched), informer);
      this.caches.push(informer);
    }
    for (const index of indexes) informer.addIndex(index);
    return informer;
  }

  get informers(): readonly Informer<KubeObject>[] {
    return [...this.#informers.values()];
  }

  find(kind: Kind): Informer<KubeObject> | undefined {
    return this.#informers.get(resourceName(kind));
  }

  /**
   * Whether the cache of the kind will certainly show this state of the object, or already shows an older one. To wait
   * for a state that never shows would delay the next reconcile by minutes.
   */
  observes(kind: Kind, object: KubeObject): boolean {
    const informer = this.find(kind);
    if (informer === undefined) return false;
    const isPartial = kind.metadataOnly === true;
    return (
      membershipIn(informer.scope, object, { isPartial }).kind === 'selected' ||
      informer.store.get(keyOf(object)) !== undefined
    );
  }

  store<K extends Kind>(kind: K): KindStore<ObjectOf<K>> {
    const found = this.#informers.get(resourceName(kind));
    if (found === undefined) {
      throw new DefinitionError(
        `${this.#controllerName} does not watch ${kind.kind}: add it to owns, watches or reads`,
      );
    }
    if (found.kind.version !== kind.version) {
      throw new DefinitionError(
        `${this.#controllerName} watches ${kind.kind} in version ${found.kind.version}, not ${kind.version}`,
      );
    }
    return createKindStore(kind, found.store as unknown as Store<ObjectOf<K>>); // one resource, one type
  }

  /** Enqueues the object itself. */
  enqueueSelf(watch: Watch, queue: KeySink, resyncMs: number | undefined): void {
    const { when } = watch.options;
    const add = (object: Cached<KubeObject>): void => queue.add(keyOfRef(object));
    const handler: Handler<KubeObject> = {
      added: (object) => (additionPasses(when, object) ? add(object) : undefined),
      updated: (before, after) => (updatePasses(when, before, after) ? add(after) : undefined),
      deleted: add, // always: state that is kept for the object must be removed
    };
    this.#listen(watch, handler, resyncMs);
  }

  enqueueOwner(watch: Watch, queue: KeySink, ownerKind: Kind): void {
    this.#listen(watch, filtered(enqueueControllerOwner<KubeObject>(queue, ownerKind), watch.options.when), 0);
  }

  enqueueMapped(watch: Watch, queue: KeySink, primary: Kind): void {
    const { map, when } = watch.options;
    if (map === undefined) {
      const advice = 'give watch() a map, or move the kind to reads';
      throw new DefinitionError(
        `${this.#controllerName}: changes of ${watch.watched.kind} would enqueue nothing: ${advice}`,
      );
    }
    const stores: Stores = { store: (kind) => this.store(kind) }; // its user may destructure it
    const what = `${this.#controllerName}: the map of ${watch.watched.kind}`;
    const keyOfMapped = (ref: ObjectRef): ObjectKey => scopedKeyOf(primary, ref, what);
    const handler = enqueueMapped<KubeObject>(queue, (object) => Array.from(map(object, stores), keyOfMapped));
    this.#listen(watch, filtered(handler, when), 0);
  }

  #listen(watch: Watch, handler: Handler<KubeObject>, resyncMs: number | undefined): void {
    this.caches.push(this.cache(watch).addHandler(handler, resyncMs === undefined ? {} : { resyncMs }));
  }
}

/** Calls the handler only for events that pass the predicate. Deletions always do: no later event would make up for it. */
function filtered(handler: Handler<KubeObject>, when: Predicate | undefined): Handler<KubeObject> {
  if (when === undefined) return handler;
  return {
    added(object, initial) {
      if (additionPasses(when, object)) handler.added?.(object, initial);
    },
    updated(before, after) {
      if (updatePasses(when, before, after)) handler.updated?.(before, after);
    },
    deleted: (last, missed) => handler.deleted?.(last, missed),
  };
}
