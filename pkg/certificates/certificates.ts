/**
 * Certificates that the process makes for itself: the one that it serves with, and those of the sandbox and of tests.
 *
 * They are encoded here and not by the library that signs for others (pkg/certificaterequests), because they are made at every start. The
 * first certificate of the library takes 120 ms of CPU time and 7 MB in the executable, and 170 ms from source; this code
 * takes 15 ms. The sandbox, which makes three of them, starts within a tenth of a second.
 * It reads nothing that others have written, but for the name of an authority: requests are read by the library, and client
 * certificates by Node.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import * as der from './der.ts';

/** A certificate and its private key, both PEM. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface Subject {
  readonly commonName: string;
  /** Kubernetes reads these as the groups of a client. */
  readonly organizations?: readonly string[];
  /** Kubernetes reads one as the uid of a client, and refuses more. */
  readonly uids?: readonly string[];
}

export interface CertificateRequest extends Subject {
  readonly usages: readonly ('server' | 'client')[];
  /** DNS names and IP addresses of a server. */
  readonly hosts?: readonly string[];
  readonly validity: Validity;
}

export interface Validity {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface AuthorityRequest extends Subject {
  readonly validity: Validity;
}

/** A new self-signed certificate authority. */
export function createAuthority(request: AuthorityRequest): KeyedCertificate {
  const keys = createKeys();
  const name = encodeName(request);
  const body = { subject: name, issuer: name, validity: request.validity, publicKey: keys.publicKey };
  const extensions = [...authorityExtensions(), subjectKeyIdentifier(keys.publicKey)];
  return toPem(signCertificate({ ...body, extensions, signer: keys.privateKey }), keys.privateKey);
}

/** A certificate authority below another one. */
export function issueAuthority(authority: KeyedCertificate, request: AuthorityRequest): KeyedCertificate {
  const keys = createKeys();
  const signer = createPrivateKey(authority.privateKey);
  const body = {
    subject: encodeName(request),
    issuer: readSubject(authority.certificate),
    validity: request.validity,
    publicKey: keys.publicKey,
  };
  const extensions = [
    ...authorityExtensions(),
    subjectKeyIdentifier(keys.publicKey),
    authorityKeyIdentifier(createPublicKey(signer)),
  ];
  return toPem(signCertificate({ ...body, extensions, signer }), keys.privateKey);
}

/** A certificate for a server or a client, signed by `authority`. */
export function issueCertificate(authority: KeyedCertificate, request: CertificateRequest): KeyedCertificate {
  const keys = createKeys();
  const signer = createPrivateKey(authority.privateKey);
  const body = {
    subject: encodeName(request),
    issuer: readSubject(authority.certificate),
    validity: request.validity,
    publicKey: keys.publicKey,
  };
  const extensions = [...leafExtensions(request), authorityKeyIdentifier(createPublicKey(signer))];
  return toPem(signCertificate({ ...body, extensions, signer }), keys.privateKey);
}

/** A self-signed server certificate, for use without an authority. */
export function createSelfSigned(request: CertificateRequest): KeyedCertificate {
  const keys = createKeys();
  const name = encodeName(request);
  const body = { subject: name, issuer: name, validity: request.validity, publicKey: keys.publicKey };
  const extensions = [...leafExtensions(request), subjectKeyIdentifier(keys.publicKey)];
  return toPem(signCertificate({ ...body, extensions, signer: keys.privateKey }), keys.privateKey);
}

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** P-256: every TLS peer supports it, and a key pair takes well under a millisecond instead of a hundred with RSA. */
function createKeys(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

interface CertificateBody {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly validity: Validity;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly signer: KeyObject;
}

const ecdsaWithSha256 = der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'));

function signCertificate({ subject, issuer, validity, publicKey, extensions, signer }: CertificateBody): Buffer {
  const signed = der.sequence(
    der.explicit(0, der.integer(Buffer.of(2))), // version 3
    der.integer(randomBytes(16)),
    ecdsaWithSha256,
    issuer,
    der.sequence(der.time(validity.fromMs), der.time(validity.untilMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der.explicit(3, der.sequence(...extensions)),
  );
  return der.sequence(signed, ecdsaWithSha256, der.bitString(sign('sha256', signed, signer)));
}

function encodeName({ commonName, organizations = [], uids = [] }: Subject): Buffer {
  const attribute = (type: string, value: string): Buffer =>
    der.set(der.sequence(der.objectIdentifier(type), der.utf8String(value)));
  return der.sequence(
    ...organizations.map((name) => attribute('2.5.4.10', name)),
    ...uids.map((uid) => attribute('1.3.6.1.4.1.57683.2', uid)),
    attribute('2.5.4.3', commonName),
  );
}

/**
 * The subject in the encoding of the authority's own certificate. Verifiers compare names byte by byte, so it is copied
 * from the certificate instead of encoded again.
 */
function readSubject(certificate: string): Buffer {
  const raw = new X509Certificate(certificate).raw;
  const [signed] = readElements(raw, readHeader(raw, 0));
  if (signed === undefined) throw new Error('read the subject of an authority: its certificate is empty');
  const fields = readElements(raw, signed);
  const subject = fields[5]; // version, serial, algorithm, issuer, validity, subject
  if (subject === undefined) throw new Error('read the subject of an authority: its certificate has none');
  return raw.subarray(subject.start, subject.end);
}

interface Element {
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
}

function readHeader(bytes: Buffer, start: number): Element {
  const first = bytes.readUInt8(start + 1);
  if (first < 0x80) return { start, contentStart: start + 2, end: start + 2 + first };
  const size = first - 0x80;
  const contentStart = start + 2 + size;
  return { start, contentStart, end: contentStart + bytes.readUIntBE(start + 2, size) };
}

function readElements(bytes: Buffer, parent: Element): Element[] {
  const elements: Element[] = [];
  for (let at = parent.contentStart; at < parent.end;) {
    const element = readHeader(bytes, at);
    elements.push(element);
    at = element.end;
  }
  return elements;
}

function extension(identifier: string, value: Uint8Array, { critical }: { critical: boolean }): Buffer {
  const flag = critical ? [der.boolean(true)] : [];
  return der.sequence(der.objectIdentifier(identifier), ...flag, der.octetString(value));
}

function authorityExtensions(): Buffer[] {
  return [
    extension('2.5.29.19', der.sequence(der.boolean(true)), { critical: true }), // basic constraints: an authority
    extension('2.5.29.15', der.bitString(Buffer.of(0b1010_0110), 1), { critical: true }), // signs certificates, lists
  ];
}

const usageIdentifiers = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

function leafExtensions({ usages, hosts = [] }: CertificateRequest): Buffer[] {
  const purposes = usages.map((usage) => der.objectIdentifier(usageIdentifiers[usage]));
  const extensions = [
    extension('2.5.29.19', der.sequence(), { critical: true }), // basic constraints: no authority
    extension('2.5.29.15', der.bitString(Buffer.of(0b1010_0000), 5), { critical: true }), // signature, encipherment
    extension('2.5.29.37', der.sequence(...purposes), { critical: false }),
  ];
  if (hosts.length > 0) {
    extensions.push(extension('2.5.29.17', der.sequence(...hosts.map(encodeHost)), { critical: false }));
  }
  return extensions;
}

function encodeHost(host: string): Buffer {
  return isIP(host) === 0 ? der.implicit(2, Buffer.from(host, 'ascii')) : der.implicit(7, encodeAddress(host));
}

function encodeAddress(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  // The URL parser writes IPv6 addresses in hexadecimal groups alone, with at most one gap.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const gap = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.from([...before, ...gap, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}

function subjectKeyIdentifier(key: KeyObject): Buffer {
  return extension('2.5.29.14', der.octetString(keyIdentifier(key)), { critical: false });
}

function authorityKeyIdentifier(key: KeyObject): Buffer {
  return extension('2.5.29.35', der.sequence(der.implicit(0, keyIdentifier(key))), { critical: false });
}

function toPem(certificate: Buffer, privateKey: KeyObject): KeyedCertificate {
  return {
    certificate: new X509Certificate(certificate).toString(),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}
