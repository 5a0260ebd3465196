import 'reflect-metadata'; // the library requires it
import { X509Certificate } from '@peculiar/x509';

const hex = (bytes: ArrayBuffer): string => Buffer.from(bytes).toString('hex');

/**
 * Every field of a certificate as it is signed, except the serial number, the times and the signature: of these, only
 * the parts that must be equal. Undefined for an empty text.
 */
export function describeCertificate(pem: string): unknown {
  if (pem === '') return undefined;
  const certificate = new X509Certificate(pem);
  return {
    pem: /^-----BEGIN CERTIFICATE-----\n([A-Za-z0-9+/=]{1,64}\n)+-----END CERTIFICATE-----\n$/.test(pem),
    subject: hex(certificate.subjectName.toArrayBuffer()),
    issuer: hex(certificate.issuerName.toArrayBuffer()),
    publicKey: hex(certificate.publicKey.rawData),
    signatureAlgorithm: certificate.signatureAlgorithm,
    extensions: certificate.extensions.map(({ type, critical, value }) => ({ type, critical, value: hex(value) })),
    durationMs: certificate.notAfter.getTime() - certificate.notBefore.getTime(),
    isPositiveSerial: /^[0-9a-f]{20,34}$/.test(certificate.serialNumber),
  };
}
