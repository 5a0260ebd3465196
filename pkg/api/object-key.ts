declare const brand: unique symbol;

/** `namespace/name`, or `name` for cluster-scoped objects. A string, because `Map` and `Set` compare by identity. */
export type ObjectKey = string & { readonly [brand]: 'ObjectKey' };

export function objectKey(namespace: string | undefined, name: string): ObjectKey {
  return (namespace === undefined || namespace === '' ? name : `${namespace}/${name}`) as ObjectKey;
}

export function keyOf(object: {
  readonly metadata: { readonly namespace?: string | undefined; readonly name?: string | undefined };
}): ObjectKey {
  return objectKey(object.metadata.namespace, object.metadata.name ?? '');
}

export function splitKey(key: ObjectKey): { readonly namespace: string | undefined; readonly name: string } {
  const slash = key.indexOf('/');
  return slash < 0
    ? { namespace: undefined, name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
