import {
  findKubeletClientProblem,
  findKubeletServingProblem,
  type RequestedNames,
} from '../../pkg/certificaterequests/index.ts';

/** The signers of Kubernetes. */
export type SignerName =
  | 'kubernetes.io/kubelet-serving'
  | 'kubernetes.io/kube-apiserver-client-kubelet'
  | 'kubernetes.io/kube-apiserver-client'
  | 'kubernetes.io/legacy-unknown';

/** Why this signer must not sign the request, or undefined if it may. The texts are those of the Go binary. */
export function findSignerProblem(
  signer: SignerName,
  names: RequestedNames,
  usages: readonly string[],
): string | undefined {
  switch (signer) {
    case 'kubernetes.io/kubelet-serving':
      return findKubeletServingProblem(names, usages);
    case 'kubernetes.io/kube-apiserver-client-kubelet':
      return findKubeletClientProblem(names, usages);
    case 'kubernetes.io/kube-apiserver-client':
      return findClientUsageProblem(usages);
    case 'kubernetes.io/legacy-unknown':
      return undefined; // this signer accepts every approved request
  }
}

const optional = new Set(['digital signature', 'key encipherment']);

function findClientUsageProblem(usages: readonly string[]): string | undefined {
  const other = usages.find((usage) => usage !== 'client auth' && !optional.has(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}
