import { generateKeyPairSync, X509Certificate } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { createRequest, type KeyKind } from '../../test/support/certificate-requests.ts';
import { createAuthority, readPrivateKey } from '../certificates/index.ts';
import { CertificateRequestError, readRequest } from './request.ts';
import { readAuthorityCertificate, readAuthorityKey, signRequest, type SigningAuthority } from './sign.ts';

const validity = { fromMs: Date.UTC(2020, 0), untilMs: Date.UTC(2060, 0) };
const made = createAuthority({ commonName: 'kubernetes', validity });
const authority: SigningAuthority = {
  certificate: readAuthorityCertificate(made.certificate),
  privateKey: readAuthorityKey(made.privateKey),
};
const terms = { keyUsage: 5, extendedKeyUsages: ['1.3.6.1.5.5.7.3.2'], ...validity };

const keyKinds: readonly KeyKind[] = ['rsa', 'P-256', 'P-521', 'ed25519'];

describe('readRequest', () => {
  test('reads the subject and each type of name', async () => {
    const { request: pem } = await createRequest(
      [{ O: ['b'] }, { CN: ['first'] }, { O: ['a'] }, { CN: ['last'] }],
      [
        { type: 'ip', value: '10.0.0.1' },
        { type: 'dns', value: 'a.example' },
        { type: 'ip', value: 'fd00::1' },
        { type: 'email', value: 'a@b' },
        { type: 'url', value: 'spiffe://a/b' },
        { type: 'dn', value: 'CN=x' },
      ],
    );
    expect(await readRequest(`text before\n${pem}`)).toMatchObject({
      commonName: 'last',
      organizations: ['b', 'a'],
      dnsNames: ['a.example'],
      ipAddresses: ['10.0.0.1', 'fd00::1'],
      emailAddresses: ['a@b'],
      uris: ['spiffe://a/b'],
    });
  });

  const refused = [
    { name: 'an empty text', pem: '' },
    { name: 'a certificate', pem: made.certificate },
    { name: 'a request behind another block', pem: `${made.certificate}-----BEGIN CERTIFICATE REQUEST-----` },
    { name: 'rubbish', pem: '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----' },
  ];
  for (const { name, pem } of refused) {
    test(`refuses ${name}`, async () => {
      await expect(readRequest(pem)).rejects.toThrow(CertificateRequestError);
    });
  }
});

describe('signRequest', () => {
  for (const kind of keyKinds) {
    test(`signs for a key of ${kind}`, async () => {
      const request = await readRequest((await createRequest([{ CN: ['jane'] }], [], kind)).request);
      const certificate = new X509Certificate(await signRequest(request, authority, terms));
      expect(certificate.verify(authority.certificate.publicKey)).toBe(true);
      expect(certificate.checkIssued(authority.certificate)).toBe(true);
      expect(certificate.ca).toBe(false);
      expect(certificate.subject).toBe('CN=jane');
      expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
      expect(certificate.validFromDate.getTime()).toBe(validity.fromMs);
      expect(certificate.validToDate.getTime()).toBe(validity.untilMs);
    });
  }

  test('drops attributes that certificates do not copy', async () => {
    const subject = [{ CN: ['jane'] }, { E: ['jane@example'] }, { O: ['b', 'a'] }, { C: ['CH'] }];
    const names = [
      { type: 'dn', value: 'CN=admin' },
      { type: 'dns', value: 'a.example' },
    ] as const;
    const request = await readRequest((await createRequest(subject, names)).request);
    const certificate = new X509Certificate(await signRequest(request, authority, terms));
    expect(certificate.subject).toBe('C=CH\nO=a + O=b\nCN=jane');
    expect(certificate.subjectAltName).toBe('DNS:a.example');
  });

  test('refuses a request that was changed', async () => {
    const request = await readRequest((await createRequest([{ CN: ['jane'] }])).request);
    const raw = new Uint8Array(request.raw);
    const at = Buffer.from(raw).indexOf('jane');
    raw[at] = 'd'.charCodeAt(0);
    await expect(signRequest({ ...request, raw }, authority, terms)).rejects.toThrow('is not signed with the key');
  });

  test('refuses an authority whose key cannot sign', () => {
    const { privateKey } = generateKeyPairSync('x25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    expect(readPrivateKey(pem).asymmetricKeyType).toBe('x25519');
    expect(() => readAuthorityKey(pem)).toThrow('contains a key that is not RSA, ECDSA');
  });
});
