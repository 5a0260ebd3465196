import type { Cached, Endpoint, ObjectReference } from '../api/index.ts';

/**
 * The identity of an endpoint: addresses, hostname and target pod. An endpoint with the same identity is updated in its
 * slice.
 */
export function endpointId({ addresses, hostname = '', targetRef }: Cached<Endpoint>): string {
  const sorted = addresses.length === 1 ? addresses[0] : [...addresses].sort().join();
  return `${sorted ?? ''} ${hostname} ${targetRef?.namespace ?? ''} ${targetRef?.name ?? ''}`;
}

/** Whether two endpoints of one identity are equal in their other fields, except for hints. */
export function isSameEndpoint(a: Cached<Endpoint>, b: Cached<Endpoint>): boolean {
  return (
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    a.conditions?.ready === b.conditions?.ready &&
    a.conditions?.serving === b.conditions?.serving &&
    a.conditions?.terminating === b.conditions?.terminating &&
    isSameReference(a.targetRef, b.targetRef)
  );
}

/** Ignores resource versions: most changes of a pod do not affect its endpoint. */
function isSameReference(a: Cached<ObjectReference> | undefined, b: Cached<ObjectReference> | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.uid === b.uid &&
    a.name === b.name &&
    a.namespace === b.namespace &&
    a.kind === b.kind &&
    a.apiVersion === b.apiVersion &&
    a.fieldPath === b.fieldPath
  );
}

export function isReadyEndpoint({ conditions }: Cached<Endpoint>): boolean {
  return conditions?.ready === true;
}
