import { compareResourceVersions } from '../pkg/api/index.ts';
import type { Cached, KubeObject, ObjectKey } from '../pkg/api/index.ts';
import { Latch } from './latch.ts';
import { defineIndex } from './informer.ts';
import type { Index, Store } from './informer.ts';
import { KeyIndex } from './key-index.ts';

interface Waiter {
  readonly resourceVersion: string;
  readonly latch: Latch;
}

/** Receives what an index function throws. The object is then missing in that index. */
export type IndexErrorListener = (index: string, error: unknown) => void;

/**
 * The cache of one kind. Only its informer holds it as an `Indexer` and writes; all others read it as a `Store`. Indexes
 * hold keys, not objects: nearly all updates change no indexed value, and so no index.
 */
export class Indexer<T extends KubeObject> implements Store<T> {
  readonly #objects = new Map<ObjectKey, Cached<T>>();
  readonly #indexes = new Map<Index<T>, KeyIndex>();
  readonly #waiters = new Set<Waiter>();
  readonly #onIndexError: IndexErrorListener;
  readonly #byNamespace = defineIndex<T>('metadata.namespace', (object) => {
    const { namespace } = object.metadata;
    return namespace === undefined ? [] : [namespace];
  });
  #resourceVersion = '';

  constructor(onIndexError: IndexErrorListener) {
    this.#onIndexError = onIndexError;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): Cached<T> | undefined {
    return this.#objects.get(key);
  }

  list(namespace?: string): readonly Cached<T>[] {
    if (namespace === undefined) return [...this.#objects.values()];
    this.addIndex(this.#byNamespace); // built on first use: most kinds are never listed by namespace
    return this.byIndex(this.#byNamespace, namespace);
  }

  byIndex(index: Index<T>, value: string): readonly Cached<T>[] {
    const keys = this.#keysOf(index);
    const found: Cached<T>[] = [];
    keys.forEach(value, (key) => {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    });
    return found;
  }

  countByIndex(index: Index<T>, value: string): number {
    return this.#keysOf(index).count(value);
  }

  hasSeen(resourceVersion: string): boolean {
    return this.#resourceVersion !== '' && compareResourceVersions(this.#resourceVersion, resourceVersion) >= 0;
  }

  async waitUntilSeen(resourceVersion: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.hasSeen(resourceVersion)) return;
    const waiter = { resourceVersion, latch: new Latch() };
    this.#waiters.add(waiter);
    try {
      await waiter.latch.wait(signal);
    } finally {
      this.#waiters.delete(waiter);
    }
  }

  /** All keys and objects, unordered. The writer may delete entries while it iterates. */
  entries(): IterableIterator<[ObjectKey, Cached<T>]> {
    return this.#objects.entries();
  }

  addIndex(index: Index<T>): void {
    if (this.#indexes.has(index)) return;
    const keys = new KeyIndex();
    for (const [key, object] of this.#objects) keys.move(key, [], this.#valuesOf(index, object));
    this.#indexes.set(index, keys);
  }

  set(key: ObjectKey, object: Cached<T>): void {
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const [index, keys] of this.#indexes) {
      keys.move(key, before === undefined ? [] : this.#valuesOf(index, before), this.#valuesOf(index, object));
    }
  }

  delete(key: ObjectKey): void {
    const before = this.#objects.get(key);
    if (before === undefined) return;
    this.#objects.delete(key);
    for (const [index, keys] of this.#indexes) keys.move(key, this.#valuesOf(index, before), []);
  }

  /**
   * The store holds everything up to this resource version. A lower version than before is accepted: a server restored
   * from a backup counts from an earlier version again.
   */
  advanceTo(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
    if (this.#waiters.size === 0) return;
    for (const waiter of this.#waiters) {
      if (this.hasSeen(waiter.resourceVersion)) waiter.latch.open();
    }
  }

  #keysOf(index: Index<T>): KeyIndex {
    const keys = this.#indexes.get(index);
    if (keys === undefined)
      throw new UnknownIndexError(`no index ${index.name} in this store: add it to the informer first`);
    return keys;
  }

  #valuesOf(index: Index<T>, object: Cached<T>): readonly string[] {
    try {
      return index.valuesOf(object);
    } catch (error) {
      this.#onIndexError(index.name, error);
      return [];
    }
  }
}

/** A store was asked by an index that was not added to its informer. */
export class UnknownIndexError extends Error {
  override readonly name = 'UnknownIndexError';
  readonly reason = 'UnknownIndex';
}
