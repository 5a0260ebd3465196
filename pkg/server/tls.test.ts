import { describe, expect, test } from 'vitest';
import { createSelfSigned } from '../certificates/index.ts';
import { certificateNames, parseSniCertKey, planTlsRules, selectByHost } from './tls.ts';

const defaults = { tlsMinVersion: '', tlsCipherSuites: [], tlsCurvePreferences: [] };

describe('planTlsRules', () => {
  const rows = [
    { name: 'asks for 1.2 when nothing is said', flags: {}, rules: { minVersion: 'TLSv1.2' } },
    { name: 'raises the version', flags: { tlsMinVersion: 'VersionTLS13' }, rules: { minVersion: 'TLSv1.3' } },
    {
      name: 'translates suites and keeps those of 1.3',
      flags: { tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'] },
      rules: {
        minVersion: 'TLSv1.2',
        ciphers:
          'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-RSA-AES128-GCM-SHA256',
      },
    },
    {
      name: 'translates curves',
      flags: { tlsCurvePreferences: [29, 4588] },
      rules: { minVersion: 'TLSv1.2', ecdhCurve: 'X25519:X25519MLKEM768' },
    },
  ];
  for (const { name, flags, rules } of rows) {
    test(name, () => expect(planTlsRules({ ...defaults, ...flags })).toEqual(rules));
  }

  const wrong = [
    { flags: { tlsMinVersion: 'TLS12' }, message: '--tls-min-version: unknown TLS version "TLS12"' },
    { flags: { tlsCipherSuites: ['NULL'] }, message: '--tls-cipher-suites: cipher suite NULL' },
    { flags: { tlsCurvePreferences: [1] }, message: '--tls-curve-preferences: unknown curve 1' },
  ];
  for (const { flags, message } of wrong) {
    test(`fails with "${message}"`, () => expect(() => planTlsRules({ ...defaults, ...flags })).toThrow(message));
  }
});

describe('parseSniCertKey', () => {
  test('reads files and names', () => {
    expect(parseSniCertKey('a.crt, a.key:*.foo.com,foo.com')).toEqual({
      certFile: 'a.crt',
      keyFile: 'a.key',
      names: ['*.foo.com', 'foo.com'],
    });
    expect(parseSniCertKey('a.crt,a.key').names).toEqual([]);
  });

  for (const text of ['a.crt', 'a.crt,a.key:', 'a.crt,a.key,b.key', 'a.crt,a.key:10.0.0.1']) {
    test(`refuses "${text}"`, () => expect(() => parseSniCertKey(text)).toThrow('--tls-sni-cert-key: '));
  }
});

describe('selectByHost', () => {
  const byName = new Map([
    ['*.foo.com', 'wild'],
    ['a.foo.com', 'exact'],
  ]);
  const rows = [
    { host: 'a.foo.com', expected: 'exact' },
    { host: 'A.Foo.com.', expected: 'exact' },
    { host: 'b.foo.com', expected: 'wild' },
    { host: 'foo.com', expected: undefined },
    { host: 'b.a.foo.com', expected: undefined },
  ];
  for (const { host, expected } of rows) {
    test(`finds ${expected ?? 'nothing'} for ${host}`, () => expect(selectByHost(host, byName)).toBe(expected));
  }
});

test('certificateNames leaves addresses out', () => {
  const validity = { fromMs: Date.UTC(2020, 0, 1), untilMs: Date.UTC(2060, 0, 1) };
  const request = {
    commonName: 'main',
    usages: ['server'],
    hosts: ['foo.com', '10.0.0.1', '*.bar.com'],
    validity,
  } as const;
  expect(certificateNames(createSelfSigned(request).certificate)).toEqual(['main', 'foo.com', '*.bar.com']);
});
