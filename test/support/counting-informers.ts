import type { Cached, KubeObject } from '../../pkg/api/index.ts';
import type { Informer, InformerFactory, Store } from '../../informers/index.ts';

/** Caches that count the objects they return, and throw when all objects are listed. */
export class CountingInformers implements InformerFactory {
  /** The number of objects returned since it was last set. */
  count = 0;
  readonly #inner: InformerFactory;

  constructor(inner: InformerFactory) {
    this.#inner = inner;
  }

  informerFor: InformerFactory['informerFor'] = (kind, selection) =>
    this.#watched(this.#inner.informerFor(kind, selection));

  find: InformerFactory['find'] = (kind) => {
    const found = this.#inner.find(kind);
    return found === undefined ? undefined : this.#watched(found);
  };

  release: InformerFactory['release'] = (kind, selection) => this.#inner.release(kind, selection);

  #watched<T extends KubeObject>(informer: Informer<T>): Informer<T> {
    return {
      kind: informer.kind,
      store: this.#counted(informer.store),
      scope: informer.scope,
      get hasSynced() {
        return informer.hasSynced;
      },
      addIndex: (index) => informer.addIndex(index),
      addHandler: (handler, options) => informer.addHandler(handler, options),
      waitForSync: (signal) => informer.waitForSync(signal),
    };
  }

  #counted<T extends KubeObject>(store: Store<T>): Store<T> {
    const handOut = <R extends Cached<T> | undefined | readonly Cached<T>[]>(result: R): R => {
      if (result !== undefined) this.count += Array.isArray(result) ? result.length : 1;
      return result;
    };
    return {
      get size() {
        return store.size;
      },
      get: (key) => handOut(store.get(key)),
      byIndex: (index, value) => handOut(store.byIndex(index, value)),
      countByIndex: (index, value) => store.countByIndex(index, value),
      list: () => {
        throw new Error('a reconcile has listed a whole cache');
      },
      hasSeen: (resourceVersion) => store.hasSeen(resourceVersion),
      waitUntilSeen: (resourceVersion, signal) => store.waitUntilSeen(resourceVersion, signal),
    };
  }
}
