import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

/** The text is not usable as a list of PEM certificates. */
export class CertificateListError extends Error {
  override readonly name = 'CertificateListError';
  readonly reason = 'InvalidCertificateList';
}

/** Reads every certificate of a PEM bundle. Throws a `CertificateListError` if there is none, or one is broken. */
export function readCertificates(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new CertificateListError('contains no certificate');
  return blocks.map((block) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new CertificateListError('contains a certificate that cannot be read', { cause: error });
    }
  });
}

/** Returns the text unchanged if it holds at least one certificate and every certificate can be read. */
export function parseCertificates(pem: string): string {
  readCertificates(pem);
  return pem;
}

/** A file holds no usable private key. The message completes "the file …". */
export class PrivateKeyError extends Error {
  override readonly name = 'PrivateKeyError';
  readonly reason = 'UnusablePrivateKey';
}

/** Reads the first private key of a PEM file. Throws a `PrivateKeyError`. */
export function readPrivateKey(pem: string): KeyObject {
  // Files may hold more, such as the parameters that openssl writes before an EC key.
  const blocks = pem.match(/-----BEGIN ((?:EC |RSA )?PRIVATE KEY)-----[^]+?-----END \1-----/g) ?? [];
  let cause: unknown;
  for (const block of blocks) {
    try {
      return createPrivateKey(block);
    } catch (error) {
      cause = error;
    }
  }
  throw new PrivateKeyError('contains no RSA or ECDSA private key', { cause });
}
