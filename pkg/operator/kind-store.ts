import { splitKey, type Cached, type Kind, type KubeObject, type ObjectKey } from '../api/index.ts';
import type { Store } from '../../informers/index.ts';
import { DefinitionError } from './definition-error.ts';
import { keyOfRef, type ObjectRef } from './resource-client.ts';

/** The cache of one kind. */
export interface KindStore<T extends KubeObject> extends Omit<Store<T>, 'get'> {
  /** By the object itself, its key, or its namespace and name. */
  get(ref: ObjectRef): Cached<T> | undefined;
}

export function createKindStore<T extends KubeObject>(kind: Kind, store: Store<T>): KindStore<T> {
  return {
    get size() {
      return store.size;
    },
    get: (ref) => store.get(scopedKeyOf(kind, ref, 'the store')),
    list: (namespace) => store.list(namespace),
    byIndex: (index, value) => store.byIndex(index, value),
    countByIndex: (index, value) => store.countByIndex(index, value),
    hasSeen: (resourceVersion) => store.hasSeen(resourceVersion),
    waitUntilSeen: (resourceVersion, signal) => store.waitUntilSeen(resourceVersion, signal),
  };
}

/** The key of an object of this kind. With the wrong scope it would name no object: that is a `DefinitionError`. */
export function scopedKeyOf(kind: Kind, ref: ObjectRef, what: string): ObjectKey {
  const key = keyOfRef(ref);
  const { namespace } = splitKey(key);
  if (kind.namespaced === (namespace !== undefined)) return key;
  const why = kind.namespaced ? 'is namespaced, and the reference has no namespace' : 'is not namespaced';
  throw new DefinitionError(`${what}: ${key} names no ${kind.kind}, which ${why}`);
}
