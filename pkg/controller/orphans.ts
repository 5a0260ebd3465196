import { controllerOf, type Cached, type KubeObject, type Labels } from '../api/index.ts';
import { defineIndex, type Index, type Store } from '../../informers/index.ts';

/**
 * Objects without a controller, by each of their labels. An owner that looks for orphans finds only those with one of
 * its labels, however many orphans its namespace has.
 */
export const orphansByLabel: Index<KubeObject> = defineIndex<KubeObject>('orphan label', (object) => {
  if (controllerOf(object) !== undefined) return [];
  const { namespace, labels = {} } = object.metadata;
  return [anyIn(namespace), ...Object.entries(labels).map(([name, value]) => labelIn(namespace, name, value))];
});

/** Candidates for adoption. They have at least one of the labels; the owner's selector decides. */
export function orphansWith<T extends KubeObject>(
  store: Store<T>,
  namespace: string | undefined,
  requiredLabels: Labels,
): readonly Cached<T>[] {
  const required = Object.entries(requiredLabels).map(([name, value]) => labelIn(namespace, name, value));
  // Any of the labels would do. The longest is usually the rarest: a hash rather than a tier.
  const rarest = required.reduce((longest, one) => (one.length > longest.length ? one : longest), anyIn(namespace));
  return store.byIndex(orphansByLabel, rarest);
}

const anyIn = (namespace: string | undefined): string => `${namespace ?? ''}/`;
const labelIn = (namespace: string | undefined, name: string, value: string): string =>
  `${anyIn(namespace)}${name}=${value}`;
