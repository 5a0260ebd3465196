import { X509Certificate } from 'node:crypto';

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
