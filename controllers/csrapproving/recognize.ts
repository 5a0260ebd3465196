import type { Cached, CertificateSigningRequest } from '../../pkg/api/index.ts';
import {
  findKubeletClientProblem,
  kubeletClientSigner,
  type RequestedNames,
} from '../../pkg/certificaterequests/index.ts';

/** A permission whose holder gets requests of one kind approved. */
export interface Recognition {
  /** The permission is to create this subresource of certificatesigningrequests. */
  readonly subresource: 'selfnodeclient' | 'nodeclient';
  /** The message of the condition that approves. */
  readonly message: string;
}

const ownCertificate: Recognition = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
};
const anyCertificate: Recognition = {
  subresource: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
};

/**
 * The permissions of which one is enough, in the order to check them. None for a request that needs manual approval.
 */
export function selectRecognitions(
  { signerName, username, usages }: Cached<CertificateSigningRequest>['spec'],
  names: RequestedNames,
): readonly Recognition[] {
  if (signerName !== kubeletClientSigner) return [];
  if (findKubeletClientProblem(names, usages ?? []) !== undefined) return [];
  return (username ?? '') === names.commonName ? [ownCertificate, anyCertificate] : [anyCertificate];
}
