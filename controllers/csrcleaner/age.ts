import { X509Certificate } from 'node:crypto';

import { parseTime, type Cached, type CertificateSigningRequest } from '../../pkg/api/index.ts';
import { conditionsOf, isIssued } from '../../pkg/certificaterequests/index.ts';

const hourMs = 3_600_000;
/**
 * For requests with a certificate, denied ones and failed ones: the requesting user has had time to read the outcome.
 */
const settledMs = hourMs;
/** For requests that are pending, or approved but not signed. */
const pendingMs = 24 * hourMs;

export type CleanUpReason = 'Issued' | 'Denied' | 'Failed' | 'Pending' | 'Expired' | 'ApprovedUnissued';

/** Why the request can be deleted; undefined if it must be kept. */
export function findCleanUpReason(
  request: Cached<CertificateSigningRequest>,
  nowMs: number,
): CleanUpReason | undefined {
  const isOlder = (time: string | null | undefined, ageMs: number): boolean => {
    const ms = parseTime(time);
    return ms !== undefined && nowMs - ms > ageMs;
  };
  const conditions = conditionsOf(request);
  const hasOlder = (wanted: string, ageMs: number): boolean =>
    conditions.some(({ type, lastUpdateTime }) => type === wanted && isOlder(lastUpdateTime, ageMs));
  if (isIssued(request) && hasOlder('Approved', settledMs)) return 'Issued';
  if (hasOlder('Denied', settledMs)) return 'Denied';
  if (hasOlder('Failed', settledMs)) return 'Failed';
  if (conditions.length === 0 && isOlder(request.metadata.creationTimestamp, pendingMs)) return 'Pending';
  const isApproved = conditions.some(({ type }) => type === 'Approved');
  if (isApproved && isIssued(request) && isExpired(request, nowMs)) return 'Expired';
  return !isIssued(request) && hasOlder('Approved', pendingMs) ? 'ApprovedUnissued' : undefined;
}

function isExpired({ status }: Cached<CertificateSigningRequest>, nowMs: number): boolean {
  try {
    const certificate = new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'));
    return nowMs > certificate.validToDate.getTime();
  } catch {
    return false; // a signer may issue any text: then only the age counts
  }
}
