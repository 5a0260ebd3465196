import {
  compareResourceVersions,
  keyOf,
  type Cached,
  type Kind,
  type KubeObject,
  type ObjectKey,
} from '../../pkg/api/index.ts';
import type { Handler, HandlerRegistration, Index, Informer, Store } from '../../informers/index.ts';
import { frozen } from './builders.ts';

/** An informer whose cache the test fills. Calls handlers at once and counts reads. */
export class FakeInformer<T extends KubeObject> implements Informer<T>, Store<T> {
  readonly kind: Kind<T>;
  readonly scope = {};
  readonly hasSynced = true;
  readonly #objects = new Map<ObjectKey, Cached<T>>();
  readonly #handlers = new Set<Handler<T>>();
  #newest = '0';
  /** Objects returned so far. */
  reads = 0;

  constructor(kind: Kind<T>, objects: readonly T[] = []) {
    this.kind = kind;
    for (const object of objects) this.set(object);
  }

  get store(): Store<T> {
    return this;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): Cached<T> | undefined {
    this.reads += 1;
    return this.#objects.get(key);
  }

  list(namespace?: string): readonly Cached<T>[] {
    const all = [...this.#objects.values()];
    return this.#counted(
      namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace),
    );
  }

  byIndex(index: Index<T>, value: string): readonly Cached<T>[] {
    return this.#counted([...this.#objects.values()].filter((object) => index.valuesOf(object).includes(value)));
  }

  countByIndex(index: Index<T>, value: string): number {
    return this.byIndex(index, value).length;
  }

  hasSeen(resourceVersion: string): boolean {
    return compareResourceVersions(this.#newest, resourceVersion) >= 0;
  }

  async waitUntilSeen(): Promise<void> {}
  addIndex(): void {}
  async waitForSync(): Promise<void> {}

  addHandler(handler: Handler<T>): HandlerRegistration {
    this.#handlers.add(handler);
    for (const object of this.#objects.values()) handler.added?.(object, true);
    return { hasSynced: true, waitForSync: async () => {}, remove: () => void this.#handlers.delete(handler) };
  }

  set(object: T): void {
    const key = keyOf(object);
    const [before, after] = [this.#objects.get(key), frozen(object)];
    this.#objects.set(key, after);
    const { resourceVersion } = object.metadata;
    if (compareResourceVersions(resourceVersion, this.#newest) > 0) this.#newest = resourceVersion;
    for (const handler of this.#handlers) {
      if (before === undefined) handler.added?.(after, false);
      else handler.updated?.(before, after);
    }
  }

  delete(object: T): void {
    const last = this.#objects.get(keyOf(object));
    if (last === undefined || !this.#objects.delete(keyOf(object))) return;
    for (const handler of this.#handlers) handler.deleted?.(last, false);
  }

  #counted(found: readonly Cached<T>[]): readonly Cached<T>[] {
    this.reads += found.length;
    return found;
  }
}
