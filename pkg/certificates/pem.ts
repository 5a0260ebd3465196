import { X509Certificate } from 'node:crypto';

/** The text is not usable as a list of PEM certificates. */
export class CertificateListError extends Error {
  override readonly name = 'CertificateListError';
  readonly reason = 'InvalidCertificateList';
}

/** Returns the text unchanged if it holds at least one certificate and every certificate can be read. */
export function parseCertificates(pem: string): string {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new CertificateListError('contains no certificate');
  for (const block of blocks) {
    try {
      void new X509Certificate(block).fingerprint256;
    } catch (error) {
      throw new CertificateListError('contains a certificate that cannot be read', { cause: error });
    }
  }
  return pem;
}
