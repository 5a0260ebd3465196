import { resourceName, type Kind, type KubeObject } from '../../pkg/api/index.ts';
import type { CacheInspection, InformerFactory } from '../../informers/index.ts';
import { FakeInformer } from './fake-informer.ts';

/** The caches of a process, which the test fills. */
export class FakeCaches implements Pick<InformerFactory, 'find'> {
  readonly #informers = new Map<string, { readonly informer: FakeInformer<KubeObject>; changedAtMs: number }>();
  readonly #now: () => number;

  /** `now`: when a change was applied. Default: each at its own time. */
  constructor(now?: () => number) {
    let changes = 0;
    this.#now = now ?? ((): number => ++changes);
  }

  set<T extends KubeObject>(kind: Kind<T>, ...objects: readonly T[]): void {
    const cache = this.#cacheOf(kind);
    for (const object of objects) cache.informer.set(object);
    cache.changedAtMs = this.#now();
  }

  delete<T extends KubeObject>(kind: Kind<T>, object: T): void {
    const cache = this.#cacheOf(kind);
    cache.informer.delete(object);
    cache.changedAtMs = this.#now();
  }

  /** How many objects of a kind were read so far. */
  readsOf(kind: Kind): number {
    return this.#informers.get(idOf(kind))?.informer.reads ?? 0;
  }

  find<T extends KubeObject>(kind: Kind<T>): FakeInformer<T> | undefined {
    const informer: unknown = this.#informers.get(idOf(kind))?.informer;
    return informer as FakeInformer<T> | undefined; // found by its kind
  }

  inspect(): readonly CacheInspection[] {
    return [...this.#informers.values()].map(({ informer, changedAtMs }) => {
      const { kind, size, hasSynced } = informer;
      return { kind, size, hasSynced, changedAtMs };
    });
  }

  #cacheOf(kind: Kind): { readonly informer: FakeInformer<KubeObject>; changedAtMs: number } {
    const id = idOf(kind);
    const cache = this.#informers.get(id) ?? { informer: new FakeInformer(kind), changedAtMs: 0 };
    this.#informers.set(id, cache);
    return cache;
  }
}

function idOf(kind: Kind): string {
  return `${resourceName(kind)} ${String(kind.metadataOnly === true)}`;
}
