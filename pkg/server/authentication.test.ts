import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { createAuthority, issueCertificate } from '../certificates/index.ts';
import type { KeyedCertificate } from '../certificates/index.ts';
import { bearerToken, createAuthenticator } from './authentication.ts';
import type { Credentials, Proof } from './authentication.ts';

const validity = { fromMs: Date.UTC(2020, 0, 1), untilMs: Date.UTC(2060, 0, 1) };
const users = createAuthority({ commonName: 'users', validity });
const proxies = createAuthority({ commonName: 'proxies', validity });
const poolOf = ({ certificate }: KeyedCertificate): X509Certificate[] => [new X509Certificate(certificate)];

function shown(issuer: KeyedCertificate, commonName: string, ...organizations: string[]): Credentials['certificates'] {
  const request = { commonName, organizations, usages: ['client'], validity } as const;
  return { leaf: new X509Certificate(issueCertificate(issuer, request).certificate), intermediates: [] };
}

const trust = {
  users: poolOf(users),
  proxies: {
    authorities: poolOf(proxies),
    allowedNames: ['front-proxy'],
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: ['X-Remote-Uid'],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  },
};
const asJane = { 'x-remote-user': ['jane'], 'x-remote-group': ['a', 'b'], 'x-remote-extra-a%2fb': ['c'] };
const goodToken = { authorization: ['Bearer good'] };

const rows: readonly { name: string; credentials: Credentials; expected: object }[] = [
  {
    name: 'is anonymous without credentials',
    credentials: { headers: {} },
    expected: { kind: 'known', user: { name: 'system:anonymous', groups: ['system:unauthenticated'] } },
  },
  {
    name: 'is the user of the certificate',
    credentials: { headers: {}, certificates: shown(users, 'bob', 'dev') },
    expected: { kind: 'known', user: { name: 'bob', groups: ['dev', 'system:authenticated'] } },
  },
  {
    name: 'is unauthorized with a certificate of an unknown CA',
    credentials: { headers: {}, certificates: shown(createAuthority({ commonName: 'users', validity }), 'bob') },
    expected: { kind: 'rejected' },
  },
  {
    name: 'is unauthorized with a certificate that the handshake rejected',
    credentials: { headers: {}, certificates: shown(users, 'bob'), handshakeProblem: 'PATH_LENGTH_EXCEEDED' },
    expected: { kind: 'rejected' },
  },
  {
    name: 'is the user in the headers of a front proxy',
    credentials: { headers: asJane, certificates: shown(proxies, 'front-proxy') },
    expected: {
      kind: 'known',
      user: { name: 'jane', groups: ['a', 'b', 'system:authenticated'], extra: { 'a/b': ['c'] } },
    },
  },
  {
    name: 'is not the user in the headers of a front proxy that is not allowed',
    credentials: { headers: asJane, certificates: shown(proxies, 'someone') },
    expected: { kind: 'rejected' },
  },
  {
    name: 'is not the user in the headers of another user',
    credentials: { headers: asJane, certificates: shown(users, 'bob') },
    expected: { kind: 'known', user: { name: 'bob' } },
  },
  {
    name: 'is anonymous with headers but without a certificate',
    credentials: { headers: asJane },
    expected: { kind: 'known', user: { name: 'system:anonymous' } },
  },
  {
    name: 'is unauthorized as a front proxy without a user in its headers',
    credentials: { headers: {}, certificates: shown(proxies, 'front-proxy') },
    expected: { kind: 'rejected' },
  },
  {
    name: 'is the user of the token, even with a wrong certificate',
    credentials: { headers: goodToken, certificates: shown(proxies, 'someone') },
    expected: { kind: 'known', user: { name: 'robot' } },
  },
  {
    name: 'is unauthorized with a wrong token, not anonymous',
    credentials: { headers: { authorization: ['Bearer bad'] } },
    expected: { kind: 'rejected', problems: ['bad token'] },
  },
];

describe('authenticate', () => {
  const checkToken = async (token: string): Promise<Proof> =>
    token === 'good' ? { kind: 'user', user: { name: 'robot', groups: [] } } : { kind: 'wrong', problem: 'bad token' };
  const authenticator = createAuthenticator({ trust: () => trust, clock: new FakeClock(), checkToken });
  const { signal } = new AbortController();
  for (const { name, credentials, expected } of rows) {
    test(name, async () => {
      expect(await authenticator.authenticate(credentials, signal)).toMatchObject(expected);
    });
  }

  test('is anonymous with any credentials if there are no CAs and no token reviews', async () => {
    const open = createAuthenticator({ trust: () => ({}), clock: new FakeClock() });
    const credentials = { headers: { ...goodToken, ...asJane }, certificates: shown(users, 'bob') };
    expect(await open.authenticate(credentials, signal)).toMatchObject({ user: { name: 'system:anonymous' } });
  });
});

describe('bearerToken', () => {
  const tokens = [
    { header: 'Bearer abc', token: 'abc' },
    { header: '  bearer abc  ', token: 'abc' },
    { header: 'Bearer  abc', token: undefined },
    { header: 'Bearer', token: undefined },
    { header: 'Basic abc', token: undefined },
    { header: '', token: undefined },
  ];
  for (const { header, token } of tokens) {
    test(`finds ${token ?? 'nothing'} in "${header}"`, () => {
      expect(bearerToken({ authorization: [header] })).toBe(token);
    });
  }
});
