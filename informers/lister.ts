import { objectKey } from '../pkg/api/index.ts';
import type { Cached, KubeObject, Selector } from '../pkg/api/index.ts';
import type { Index, Store } from './informer.ts';

/** Reads of one cache by name, label and index, in one namespace or in all. Costs what it returns, save for labels. */
export interface Lister<T extends KubeObject> {
  get(name: string): Cached<T> | undefined;
  list(selector?: Selector): readonly Cached<T>[];
  byIndex(index: Index<T>, value: string): readonly Cached<T>[];
  /** The same, of one namespace alone. */
  inNamespace(namespace: string): Lister<T>;
}

export function createLister<T extends KubeObject>(store: Store<T>, namespace?: string): Lister<T> {
  return {
    get: (name) => store.get(objectKey(namespace, name)),
    list(selector) {
      const objects = store.list(namespace);
      return selector === undefined ? objects : objects.filter(({ metadata }) => selector(metadata.labels));
    },
    byIndex(index, value) {
      const objects = store.byIndex(index, value);
      return namespace === undefined ? objects : objects.filter(({ metadata }) => metadata.namespace === namespace);
    },
    inNamespace: (name) => createLister(store, name),
  };
}
