import { createHash, type X509Certificate } from 'node:crypto';
import type { User } from './user.ts';

// Certificates are read by Node, that is by OpenSSL, which has verified them in the handshake. It takes 0.1 ms for each. The
// library in pkg/certificaterequests would take 1.4 ms, and 7 MB once it is loaded, in every process that is scraped.

/** The certificate chain of a client: its own certificate and the intermediates. */
export interface PresentedCertificates {
  readonly leaf: X509Certificate;
  readonly intermediates: readonly X509Certificate[];
}

export type CertificatePool = readonly X509Certificate[];

const anyUsage = '2.5.29.37.0';
const clientAuth = '1.3.6.1.5.5.7.3.2';
// Longer than any real chain. Limits the search when a client sends many cross-signed certificates.
const maxDepth = 8;

/**
 * Why the certificate does not chain to one of the CAs at this time, or undefined if it does.
 *
 * The handshake accepts certificates of all configured CAs, and a connection outlives many reloads. So each request checks
 * again whether the certificate chains to the current CAs of users or of front proxies.
 */
export function findChainProblem(
  { leaf, intermediates }: PresentedCertificates,
  authorities: CertificatePool,
  nowMs: number,
): string | undefined {
  if (!isInForce(leaf, nowMs)) return 'certificate has expired or is not yet valid';
  if (!allowsClients(leaf)) return 'certificate is not meant for client authentication';
  const reachesAuthority = (certificate: X509Certificate, depth: number): boolean => {
    const isIssuer = (issuer: X509Certificate): boolean => isInForce(issuer, nowMs) && hasIssued(issuer, certificate);
    if (authorities.some((known) => known.raw.equals(certificate.raw) || isIssuer(known))) return true;
    if (depth === maxDepth) return false;
    return intermediates.some(
      (next) => allowsClients(next) && isIssuer(next) && next !== certificate && reachesAuthority(next, depth + 1),
    );
  };
  return reachesAuthority(leaf, 0) ? undefined : 'certificate signed by unknown authority';
}

function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function isInForce(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime();
}

/** A certificate without extended key usages may be used for all. */
function allowsClients(certificate: X509Certificate): boolean {
  // The type is an array, but without the extension the value is undefined.
  const usages: readonly string[] | undefined = certificate.keyUsage;
  return usages === undefined || usages.includes(clientAuth) || usages.includes(anyUsage);
}

/** The OID of the uid in a subject, as defined by Kubernetes. */
const uidAttribute = '1.3.6.1.4.1.57683.2';

/** Why the subject is not a valid user, or undefined if it is. */
export function findSubjectProblem(certificate: X509Certificate): string | undefined {
  const uids = subjectValues(certificate, uidAttribute);
  if (uids.length > 1) return 'it has more than one uid';
  return uids[0] === '' ? 'its uid is empty' : undefined;
}

/** The common name is the user, the organizations are the groups. Undefined without a common name. */
export function selectCertificateUser(certificate: X509Certificate): User | undefined {
  const name = commonNameOf(certificate);
  if (name === '') return undefined;
  const [uid] = subjectValues(certificate, uidAttribute);
  const fingerprint = createHash('sha256').update(certificate.raw).digest('hex');
  return {
    name,
    ...(uid !== undefined && { uid }),
    groups: subjectValues(certificate, 'O'),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
  };
}

/** The last common name. Empty if there is none. */
export function commonNameOf(certificate: X509Certificate): string {
  return subjectValues(certificate, 'CN').at(-1) ?? '';
}

function subjectValues(certificate: X509Certificate, attribute: string): readonly string[] {
  // `certificate.subject` is escaped and joined. Only this form has the values as signed.
  const subject: Partial<Record<string, string | readonly string[]>> = { ...certificate.toLegacyObject().subject };
  const value = subject[attribute];
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}
