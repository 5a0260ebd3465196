import { formatTime } from '../../pkg/api/index.ts';
import type { CertificateTerms } from '../../pkg/certificaterequests/index.ts';

/** The request cannot be signed as it is, or the authority can no longer sign. */
export class SigningError extends Error {
  override readonly name = 'SigningError';
  readonly reason = 'CannotSign';
}

const minuteMs = 60_000;
/** Clocks differ: a certificate is valid from a little before it was signed. */
const backdateMs = 5 * minuteMs;
/** A shorter certificate does not lose the backdated minutes at its end: they would be more than 1% of it. */
const shortMs = 8 * 60 * minuteMs;
/** Twice the backdating. */
const minDurationMs = 10 * minuteMs;

export interface TermsRequest {
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
}

export interface SigningLimits {
  readonly nowMs: number;
  readonly maxDurationMs: number;
  /** When the certificate of the authority expires: no certificate outlives it. */
  readonly authorityUntilMs: number;
}

/** The usages and the validity of a certificate. Throws a `SigningError`. */
export function computeTerms({ usages, expirationSeconds }: TermsRequest, limits: SigningLimits): CertificateTerms {
  const { nowMs, maxDurationMs, authorityUntilMs } = limits;
  const durationMs = computeDurationMs(expirationSeconds, maxDurationMs);
  const fromMs = nowMs - backdateMs;
  const wantedMs = durationMs < shortMs ? nowMs + durationMs : nowMs + durationMs - backdateMs;
  if (nowMs >= authorityUntilMs) {
    throw new SigningError(`the certificate of the authority expired at ${formatTime(authorityUntilMs)}`);
  }
  return { ...computeUsages(usages), fromMs, untilMs: Math.min(wantedMs, authorityUntilMs) };
}

function computeDurationMs(expirationSeconds: number | undefined, maxDurationMs: number): number {
  if (expirationSeconds === undefined) return maxDurationMs;
  const requestedMs = expirationSeconds * 1000;
  return requestedMs > maxDurationMs ? maxDurationMs : Math.max(requestedMs, minDurationMs);
}

/** Bits of the key usage extension. */
const keyUsages: ReadonlyMap<string, number> = new Map([
  ['signing', 1],
  ['digital signature', 1],
  ['content commitment', 2],
  ['key encipherment', 4],
  ['data encipherment', 8],
  ['key agreement', 16],
  ['cert sign', 32],
  ['crl sign', 64],
  ['encipher only', 128],
  ['decipher only', 256],
]);

/** Identifiers of extended key usages. A certificate lists them in this order. */
const extendedKeyUsages: ReadonlyMap<string, string> = new Map([
  ['any', '2.5.29.37.0'],
  ['server auth', '1.3.6.1.5.5.7.3.1'],
  ['client auth', '1.3.6.1.5.5.7.3.2'],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
]);

function computeUsages(usages: readonly string[]): Pick<CertificateTerms, 'keyUsage' | 'extendedKeyUsages'> {
  const unknown = usages.filter((usage) => !keyUsages.has(usage) && !extendedKeyUsages.has(usage));
  if (unknown.length > 0) throw new SigningError(`unrecognized usage values: ${JSON.stringify(unknown)}`);
  const extended = [...extendedKeyUsages]
    .filter(([usage]) => usages.includes(usage))
    .map(([, identifier]) => identifier);
  return {
    keyUsage: usages.reduce((bits, usage) => bits | (keyUsages.get(usage) ?? 0), 0),
    extendedKeyUsages: [...new Set(extended)],
  };
}
