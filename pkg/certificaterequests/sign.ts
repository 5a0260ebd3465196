import type { KeyObject, X509Certificate } from 'node:crypto';

import type { JsonAttributeObject, JsonNameParams } from '@peculiar/x509';

import { CertificateListError, PrivateKeyError, readCertificates, readPrivateKey } from '../certificates/index.ts';
import { CertificateRequestError, type RequestedCertificate } from './request.ts';
import { loadX509 } from './x509.ts';

/** A certificate authority and its key. */
export interface SigningAuthority {
  readonly certificate: X509Certificate;
  readonly privateKey: KeyObject;
}

/** The contents of a certificate that do not come from the request. */
export interface CertificateTerms {
  /** The sum of the bits that X.509 defines: 1 is digital signature. The extension is absent if it is 0. */
  readonly keyUsage: number;
  /** Object identifiers, in order. */
  readonly extendedKeyUsages: readonly string[];
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Reads the only certificate of a file. Throws a `CertificateListError`; its message completes "the file …". */
export function readAuthorityCertificate(pem: string): X509Certificate {
  const [certificate, ...others] = readCertificates(pem);
  if (certificate === undefined || others.length > 0) {
    throw new CertificateListError(`contains ${1 + others.length} certificates: it must contain one`);
  }
  return certificate;
}

/** Reads a key that can sign certificates. Throws a `PrivateKeyError`; its message completes "the file …". */
export function readAuthorityKey(pem: string): KeyObject {
  const key = readPrivateKey(pem);
  if (signingAlgorithmOf(key) === undefined) {
    throw new PrivateKeyError('contains a key that is not RSA, ECDSA on P-256, P-384 or P-521, or Ed25519');
  }
  return key;
}

const curves: ReadonlyMap<string, { readonly namedCurve: string; readonly hash: string }> = new Map([
  ['prime256v1', { namedCurve: 'P-256', hash: 'SHA-256' }],
  ['secp384r1', { namedCurve: 'P-384', hash: 'SHA-384' }],
  ['secp521r1', { namedCurve: 'P-521', hash: 'SHA-512' }],
]);

/** The algorithm that the Go binary signs with. */
function signingAlgorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject) {
  switch (type) {
    case 'rsa':
      return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    case 'ec': {
      const curve = curves.get(details?.namedCurve ?? '');
      return curve && { name: 'ECDSA', ...curve };
    }
    case 'ed25519':
      return { name: 'Ed25519' };
    default:
      return undefined;
  }
}

/**
 * Signs a certificate for the key, the subject and the alternative names of a request, and nothing else of it. Returns
 * PEM. The fields, their order and their encoding are those of the Go binary. Throws a `CertificateRequestError` if the
 * request is not signed with its own key.
 */
export async function signRequest(
  request: RequestedCertificate,
  authority: SigningAuthority,
  terms: CertificateTerms,
): Promise<string> {
  const library = await loadX509();
  const { Pkcs10CertificateRequest, X509Certificate: Certificate, X509CertificateGenerator } = library;
  const parsed = new Pkcs10CertificateRequest(request.raw);
  if (!(await isSignedWithOwnKey(parsed))) {
    throw new CertificateRequestError('is not signed with the key that it contains');
  }
  const algorithm = signingAlgorithmOf(authority.privateKey);
  if (algorithm === undefined) throw new PrivateKeyError('contains a key that cannot sign certificates');
  const issuer = new Certificate(authority.certificate.raw);
  const certificate = await X509CertificateGenerator.create({
    issuer: issuer.subjectName,
    subject: new library.Name(subjectOf(request)),
    notBefore: new Date(terms.fromMs),
    notAfter: new Date(terms.untilMs),
    publicKey: parsed.publicKey,
    signingKey: authority.privateKey.toCryptoKey(algorithm, false, ['sign']),
    signingAlgorithm: algorithm,
    extensions: [...usageExtensions(), ...identifierExtensions(), ...nameExtensions()],
  });
  return `${certificate.toString('pem')}\n`;

  function usageExtensions() {
    return [
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- a sum of flags is none of the members
      ...(terms.keyUsage === 0 ? [] : [new library.KeyUsagesExtension(terms.keyUsage, true)]),
      ...(terms.extendedKeyUsages.length === 0
        ? []
        : [new library.ExtendedKeyUsageExtension([...terms.extendedKeyUsages])]),
      new library.BasicConstraintsExtension(false, undefined, true),
    ];
  }

  function identifierExtensions() {
    const { keyId } = issuer.getExtension(library.SubjectKeyIdentifierExtension) ?? {};
    return keyId === undefined ? [] : [new library.AuthorityKeyIdentifierExtension(keyId)];
  }

  function nameExtensions() {
    const names = [
      ...request.dnsNames.map((value) => ({ type: 'dns', value }) as const),
      ...request.emailAddresses.map((value) => ({ type: 'email', value }) as const),
      ...request.ipAddresses.map((value) => ({ type: 'ip', value }) as const),
      ...request.uris.map((value) => ({ type: 'url', value }) as const),
    ];
    // Without a subject, the alternative names are the only identity.
    return names.length === 0 ? [] : [new library.SubjectAlternativeNameExtension(names, request.subject.length === 0)];
  }
}

async function isSignedWithOwnKey(request: { verify(): Promise<boolean> }): Promise<boolean> {
  try {
    return await request.verify();
  } catch (error) {
    // Such as ECDSA on P-224, which Web Cryptography does not have.
    throw new CertificateRequestError('is signed with an algorithm that is not supported', { cause: error });
  }
}

/** One relative name for each attribute, with all its values. */
function subjectOf({ subject }: RequestedCertificate): JsonNameParams {
  return subject.map(({ type, values }) => ({ [type]: values.toSorted(compareEncoded).map(encodable) }));
}

const isPrintable = (text: string): boolean => /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text);
const encodable = (text: string): JsonAttributeObject =>
  isPrintable(text) ? { printableString: text } : { utf8String: text };

/** DER sorts the values of a set by their encoding: length, type, content. */
function compareEncoded(a: string, b: string): number {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length - right.length || Number(isPrintable(a)) - Number(isPrintable(b)) || left.compare(right);
}
