import { describe, expect, test } from 'vitest';

import { createAuthority } from './certificates.ts';
import { CertificateListError, parseCertificates, readCertificates } from './pem.ts';

const validity = { fromMs: Date.parse('2026-01-01T00:00:00Z'), untilMs: Date.parse('2026-01-01T01:00:00Z') };
const { certificate, privateKey } = createAuthority({ commonName: 'test', validity });

describe('parseCertificates', () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  const accepted = [
    { name: 'accepts one certificate', pem: certificate },
    { name: 'accepts several, with text between them', pem: `${certificate}# next\n${certificate}` },
  ];
  for (const { name, pem } of accepted) test(name, () => expect(parseCertificates(pem)).toBe(pem));

  test('every certificate is read', () =>
    expect(readCertificates(`first\n${certificate}\nsecond\n${certificate}`)).toHaveLength(2));

  const refused = [
    { name: 'refuses an empty text', pem: '', message: 'contains no certificate' },
    { name: 'refuses a key', pem: privateKey, message: 'contains no certificate' },
    { name: 'refuses a certificate that cannot be read', pem: certificate + broken, message: 'cannot be read' },
  ];
  for (const { name, pem, message } of refused) {
    test(name, () => {
      expect(() => parseCertificates(pem)).toThrow(CertificateListError);
      expect(() => parseCertificates(pem)).toThrow(message);
    });
  }
});
