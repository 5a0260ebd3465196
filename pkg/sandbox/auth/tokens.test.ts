import { generateKeyPairSync } from 'node:crypto';

import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';

import { TokenSigner, type TokenClaims } from './tokens.ts';

const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const others = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const signer = new TokenSigner(keys.privateKey);
const nowMs = 1_767_225_600_000;
const subject = { namespace: 'ns', serviceAccount: { name: 'a', uid: 'u' } };
const claims = (more: Partial<TokenClaims> = {}): TokenClaims => ({
  audiences: [],
  issuedAtSeconds: nowMs / 1000,
  expiresAtSeconds: nowMs / 1000 + 600,
  subject,
  ...more,
});
const payloadOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

const prefix = 'kubernetes.io/serviceaccount/';
const legacy = {
  [`${prefix}namespace`]: 'ns',
  [`${prefix}service-account.name`]: 'a',
  [`${prefix}service-account.uid`]: 'u',
  [`${prefix}secret.name`]: 's',
};

describe('a token', async () => {
  const token = await signer.issue(claims());

  test('has the service account, the audiences and the lifetime', () =>
    expect(payloadOf(token)).toMatchObject({
      sub: 'system:serviceaccount:ns:a',
      aud: ['https://kubernetes.default.svc.cluster.local'],
      iat: nowMs / 1000,
      exp: nowMs / 1000 + 600,
      'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'a', uid: 'u' } },
    }));

  test('is read back', async () => expect(await signer.read(token, nowMs)).toEqual({ ...subject, boundTo: undefined }));

  test('names the object that it is bound to', async () => {
    const boundTo = { kind: 'Pod', name: 'p', uid: 'v' };
    const bound = await signer.issue(claims({ subject: { ...subject, boundTo } }));
    expect(await signer.read(bound, nowMs)).toEqual({ ...subject, boundTo });
  });

  test('is not valid once it expires', async () => {
    expect(await signer.read(token, nowMs + 599_999)).toBeDefined();
    expect(await signer.read(token, nowMs + 600_000)).toBeUndefined();
  });

  test('is not valid before its time', async () => expect(await signer.read(token, nowMs - 61_000)).toBeUndefined());

  test('of a legacy kind has a Secret and does not expire', async () => {
    const held = await new SignJWT(legacy).setProtectedHeader({ alg: 'ES256' }).sign(keys.privateKey);
    expect(await signer.read(held, nowMs + 10 ** 12)).toEqual({ ...subject, secret: 's' });
  });

  const forgeries = {
    'of another key': await new TokenSigner(others.privateKey).issue(claims()),
    'with another payload': [
      token.split('.')[0],
      Buffer.from(JSON.stringify({ ...(payloadOf(token) as object), sub: 'x' })).toString('base64url'),
      token.split('.')[2],
    ].join('.'),
    'without a signature': token.split('.').slice(0, 2).join('.'),
    'with one part too many': `${token}.x`,
    'that is not a token': 'x',
    'that names no algorithm': new UnsecuredJWT(legacy).encode(),
    'with the public key as a shared secret': await new SignJWT(legacy)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(keys.publicKey.export({ type: 'spki', format: 'pem' }))),
  };
  for (const [name, forgery] of Object.entries(forgeries)) {
    test(`${name} is not read`, async () => expect(await signer.read(forgery, nowMs)).toBeUndefined());
  }
});
