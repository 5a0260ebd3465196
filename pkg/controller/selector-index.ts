import type { Cached, KubeObject, Labels } from '../api/index.ts';
import { defineIndex, type Index, type Store } from '../../informers/index.ts';

/** Finds the objects whose selector may match a set of labels, without evaluating every selector of the namespace. */
export interface SelectorIndex<T extends KubeObject> {
  readonly index: Index<T>;
  /** The objects that may select `labelled`. Some may not: evaluate the selector of each. */
  candidates(store: Store<T>, labelled: Cached<KubeObject>): Cached<T>[];
}

/**
 * Indexes objects by one label that their selector requires. A lookup takes one step per label of the object, plus one
 * for the selectors that require no label. If `requiredLabelsOf` returns undefined, the object selects nothing.
 */
export function defineSelectorIndex<T extends KubeObject>(
  name: string,
  requiredLabelsOf: (object: Cached<T>) => Labels | undefined,
): SelectorIndex<T> {
  const index = defineIndex<T>(name, (object) => {
    const { namespace } = (object as Cached<KubeObject>).metadata;
    const labels = requiredLabelsOf(object);
    if (labels === undefined) return [];
    const [required] = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
    return [required === undefined ? anyLabels(namespace) : oneLabel(namespace, ...required)];
  });
  return {
    index,
    candidates(store, { metadata: { namespace, labels = {} } }) {
      if (store.size === 0) return [];
      const found = [...store.byIndex(index, anyLabels(namespace))];
      for (const [label, value] of Object.entries(labels))
        found.push(...store.byIndex(index, oneLabel(namespace, label, value)));
      return found;
    },
  };
}

const anyLabels = (namespace: string | undefined): string => `${namespace ?? ''}/`;
const oneLabel = (namespace: string | undefined, label: string, value: string): string =>
  `${namespace ?? ''}/${label}=${value}`;
