import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createServer, connect } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createAuthority, createSelfSigned, issueCertificate } from './certificates.ts';

const validity = { fromMs: Date.UTC(2020, 0, 2, 3, 4, 5), untilMs: Date.UTC(2060, 5, 7, 8, 9, 10) };
const authority = createAuthority({ commonName: 'test-ca', validity });
const request = {
  commonName: 'server',
  usages: ['server'],
  hosts: ['localhost', '127.0.0.1', '::1'],
  validity,
} as const;

describe('createAuthority', () => {
  test('makes a certificate that may sign others and is signed by itself', () => {
    const parsed = new X509Certificate(authority.certificate);
    expect(parsed.ca).toBe(true);
    expect(parsed.subject).toBe('CN=test-ca');
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.checkPrivateKey(createPrivateKey(authority.privateKey))).toBe(true);
  });
});

describe('issueCertificate', () => {
  test('is signed by the authority and valid from and until the times asked for', () => {
    const parsed = new X509Certificate(issueCertificate(authority, request).certificate);
    const issuer = new X509Certificate(authority.certificate);
    expect(parsed.checkIssued(issuer)).toBe(true);
    expect(parsed.verify(issuer.publicKey)).toBe(true);
    expect(parsed.ca).toBe(false);
    expect(parsed.validFromDate.getTime()).toBe(validity.fromMs);
    expect(parsed.validToDate.getTime()).toBe(validity.untilMs);
  });

  test('names every host, addresses of both families as addresses', () => {
    const { subjectAltName } = new X509Certificate(issueCertificate(authority, request).certificate);
    expect(subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
  });

  test('carries the groups of a client as organizations', () => {
    const client = {
      commonName: 'jane',
      organizations: ['system:masters', 'dev'],
      usages: ['client'],
      validity,
    } as const;
    const parsed = new X509Certificate(issueCertificate(authority, client).certificate);
    expect(parsed.subject).toBe('O=system:masters\nO=dev\nCN=jane');
    expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  test('is not trusted by another authority of the same name', () => {
    const other = new X509Certificate(createAuthority({ commonName: 'test-ca', validity }).certificate);
    const parsed = new X509Certificate(issueCertificate(authority, request).certificate);
    expect(parsed.verify(other.publicKey)).toBe(false);
  });

  test('lets a server and a client authenticate each other over TLS', async () => {
    const server = issueCertificate(authority, request);
    const client = issueCertificate(authority, { commonName: 'jane', usages: ['client'], validity });
    const listener = createServer(
      { cert: server.certificate, key: server.privateKey, ca: authority.certificate, requestCert: true },
      (socket) => socket.end(String(socket.getPeerCertificate().subject.CN)),
    );
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    const { port } = listener.address() as AddressInfo;
    const socket = connect({
      host: '127.0.0.1',
      port,
      servername: 'localhost',
      ca: authority.certificate,
      cert: client.certificate,
      key: client.privateKey,
    });
    const [said] = await once(socket.setEncoding('utf8'), 'data');
    socket.destroy();
    await new Promise((resolve) => listener.close(resolve));
    expect(said).toBe('jane');
  });
});

describe('createSelfSigned', () => {
  test('makes a server certificate that is its own issuer', () => {
    const parsed = new X509Certificate(createSelfSigned(request).certificate);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.checkHost('localhost')).toBe('localhost');
  });
});
