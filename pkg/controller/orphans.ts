import { controllerOf, type Cached, type KubeObject, type Labels } from '../api/index.ts';
import { defineIndex, type Index, type Store } from '../../informers/index.ts';

/**
 * What nobody manages, by each of its labels. An owner that looks for something to adopt then meets only what carries
 * one of its own labels, however many objects without an owner share its namespace.
 */
export const orphansByLabel: Index<KubeObject> = defineIndex<KubeObject>('orphan label', (object) => {
  if (controllerOf(object) !== undefined) return [];
  const { namespace, labels = {} } = object.metadata;
  return [anyIn(namespace), ...Object.entries(labels).map(([name, value]) => labelIn(namespace, name, value))];
});

/** Candidates for adoption: some of them may carry one of the labels but not all, so ask the owner's selector. */
export function orphansWith<T extends KubeObject>(
  store: Store<T>,
  namespace: string | undefined,
  requiredLabels: Labels,
): readonly Cached<T>[] {
  const required = Object.entries(requiredLabels).map(([name, value]) => labelIn(namespace, name, value));
  // Any of them would do. The longest is as a rule the rarest: a hash rather than a tier.
  const rarest = required.reduce((longest, one) => (one.length > longest.length ? one : longest), anyIn(namespace));
  return store.byIndex(orphansByLabel, rarest);
}

const anyIn = (namespace: string | undefined): string => `${namespace ?? ''}/`;
const labelIn = (namespace: string | undefined, name: string, value: string): string =>
  `${anyIn(namespace)}${name}=${value}`;
