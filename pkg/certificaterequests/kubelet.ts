import type { RequestedCertificate } from './request.ts';

export type RequestedNames = Pick<
  RequestedCertificate,
  'commonName' | 'organizations' | 'dnsNames' | 'emailAddresses' | 'ipAddresses' | 'uris'
>;

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';

/** Why a kubelet may not have this client certificate, or undefined if it may. The texts are those of the Go binary. */
export function findKubeletClientProblem(names: RequestedNames, usages: readonly string[]): string | undefined {
  if (!isOfNodes(names)) return 'subject organization is not system:nodes';
  if (names.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (names.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (names.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (names.uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!names.commonName.startsWith(nodePrefix)) return nodePrefixMissing;
  return findUsageProblem(usages, 'client auth');
}

/** Why a kubelet may not serve with this certificate, or undefined if it may. */
export function findKubeletServingProblem(names: RequestedNames, usages: readonly string[]): string | undefined {
  if (!isOfNodes(names)) return 'subject organization is not system:nodes';
  if (names.dnsNames.length === 0 && names.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (names.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (names.uris.length > 0) return 'URI subjectAltNames are not allowed';
  const usageProblem = findUsageProblem(usages, 'server auth');
  if (usageProblem !== undefined) return usageProblem;
  return names.commonName.startsWith(nodePrefix) ? undefined : nodePrefixMissing;
}

const nodePrefix = 'system:node:';
const nodePrefixMissing = 'subject common name does not begin with system:node:';

function isOfNodes({ organizations }: RequestedNames): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes';
}

/** Only RSA keys encipher other keys, so `key encipherment` may be absent. */
function findUsageProblem(usages: readonly string[], auth: 'client auth' | 'server auth'): string | undefined {
  const given = new Set(usages);
  const wanted = ['digital signature', auth];
  given.delete('key encipherment');
  const isExact = given.size === wanted.length && wanted.every((usage) => given.has(usage));
  return isExact ? undefined : `usages did not match [${[...wanted, 'key encipherment'].toSorted().join(' ')}]`;
}
