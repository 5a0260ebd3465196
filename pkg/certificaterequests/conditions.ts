import type { Cached, CertificateSigningRequest, CertificateSigningRequestCondition } from '../api/index.ts';

type Request = Cached<Pick<CertificateSigningRequest, 'status'>>;

export function conditionsOf({ status }: Request): readonly Cached<CertificateSigningRequestCondition>[] {
  return status?.conditions ?? [];
}

/** Whether the request has a certificate. There is no condition for this. */
export function isIssued({ status }: Request): boolean {
  return (status?.certificate ?? '') !== '';
}

/** Whether the request is approved or denied. Such a condition cannot be removed. */
export function isDecided(request: Request): boolean {
  return conditionsOf(request).some(({ type }) => type === 'Approved' || type === 'Denied');
}

/** Approved, and not denied. */
export function isApproved(request: Request): boolean {
  const types = conditionsOf(request).map(({ type }) => type);
  return types.includes('Approved') && !types.includes('Denied');
}

/** Whether the signer has failed. An empty status counts as true, as in older requests. */
export function hasFailed(request: Request): boolean {
  return conditionsOf(request).some(({ type, status }) => type === 'Failed' && (status === '' || status === 'True'));
}
