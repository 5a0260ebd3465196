/** The types of CEL, as far as expressions are checked. */
export type Type =
  | { readonly kind: 'dyn' }
  /** The type of a part that has an error: it fits everywhere, so that one error is reported once. */
  | { readonly kind: 'error' }
  | { readonly kind: 'simple'; readonly name: SimpleName }
  | { readonly kind: 'list'; readonly item: Type }
  | { readonly kind: 'map'; readonly key: Type; readonly value: Type }
  /** The fields are computed when they are asked for: schemas are large, and expressions use little of them. */
  | { readonly kind: 'object'; fieldOf(name: string): Type | undefined };

export type SimpleName =
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'int'
  | 'null_type'
  | 'string'
  | 'timestamp'
  | 'uint';

export const dyn: Type = { kind: 'dyn' };
export const failed: Type = { kind: 'error' };
export const simple = (name: SimpleName): Type => ({ kind: 'simple', name });
export const bool = simple('bool');
export const int = simple('int');
export const string = simple('string');
export const listOf = (item: Type): Type => ({ kind: 'list', item });
export const mapOf = (value: Type): Type => ({ kind: 'map', key: string, value });

export function objectOf(fields: Readonly<Record<string, Type>>): Type {
  const all = new Map(Object.entries(fields));
  return { kind: 'object', fieldOf: (name) => all.get(name) };
}

const timestamp = simple('timestamp');
const groupVersionKind = objectOf({ group: string, version: string, kind: string });
const groupVersionResource = objectOf({ group: string, version: string, resource: string });

/** `request` in an expression. */
export const requestType = objectOf({
  kind: groupVersionKind,
  resource: groupVersionResource,
  subResource: string,
  requestKind: groupVersionKind,
  requestResource: groupVersionResource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: objectOf({ username: string, uid: string, groups: listOf(string), extra: mapOf(listOf(string)) }),
  dryRun: bool,
  options: dyn,
});

/** `namespaceObject` in an expression. */
export const namespaceType = objectOf({
  metadata: objectOf({
    name: string,
    generateName: string,
    namespace: string,
    labels: mapOf(string),
    annotations: mapOf(string),
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  }),
  spec: objectOf({ finalizers: listOf(string) }),
  status: objectOf({
    conditions: listOf(
      objectOf({ status: string, type: string, lastTransitionTime: timestamp, message: string, reason: string }),
    ),
    phase: string,
  }),
});
