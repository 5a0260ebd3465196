import { objectKey, ownValue, type Cached, type Lease, type ObjectKey } from '../../pkg/api/index.ts';

const identityLabel = 'apiserver.kubernetes.io/identity';
const component = 'kube-apiserver';
const namespace = 'kube-system';

/** Selects the leases by which API servers say that they are there. */
export const identityLeases = { labelSelector: `${identityLabel}=${component}` };

/** The lease of an API server. Its name is the id of the server. */
export function leaseKeyOf(serverId: string): ObjectKey {
  return objectKey(namespace, serverId);
}

export function isIdentityLease({ metadata }: Cached<Lease>): boolean {
  return metadata.namespace === namespace && ownValue(metadata.labels, identityLabel) === component;
}
