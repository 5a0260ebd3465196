import type { Cached, Endpoint, ObjectReference } from '../api/index.ts';

/**
 * Names an endpoint by what never changes about it: addresses, hostname and the pod it stands for. Endpoints of the
 * same name are one, and updated where they are.
 */
export function endpointId({ addresses, hostname = '', targetRef }: Cached<Endpoint>): string {
  const sorted = addresses.length === 1 ? addresses[0] : [...addresses].sort().join();
  return `${sorted ?? ''} ${hostname} ${targetRef?.namespace ?? ''} ${targetRef?.name ?? ''}`;
}

/** Whether two endpoints of one name are also alike in the rest. Hints are not asked about: they have their own rules. */
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

/** Resource versions aside: pods change in many ways that are no concern of their endpoints. */
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
