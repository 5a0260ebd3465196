import { createHash, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { PrivateKeyError } from '../../pkg/certificates/index.ts';
import { createTokenSigner } from './token-signer.ts';

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const rsa: Pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = (namedCurve: string): Pair => generateKeyPairSync('ec', { namedCurve });
const pem = ({ privateKey }: Pair, type: 'pkcs1' | 'pkcs8' | 'sec1'): string =>
  privateKey.export({ type: type as 'pkcs8', format: 'pem' });

const p256 = ec('prime256v1');
const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';

describe('createTokenSigner', () => {
  const rows = [
    { name: 'an RSA key', pair: rsa, type: 'pkcs8', alg: 'RS256', hash: 'sha256' },
    { name: 'an RSA key of the older form', pair: rsa, type: 'pkcs1', alg: 'RS256', hash: 'sha256' },
    { name: 'a key on P-256', pair: p256, type: 'pkcs8', alg: 'ES256', hash: 'sha256' },
    { name: 'a key on P-256 of the older form', pair: p256, type: 'sec1', alg: 'ES256', hash: 'sha256' },
    { name: 'a key after its parameters', pair: p256, type: 'sec1', alg: 'ES256', hash: 'sha256', before: parameters },
    { name: 'a key on P-384', pair: ec('secp384r1'), type: 'pkcs8', alg: 'ES384', hash: 'sha384' },
    { name: 'a key on P-521', pair: ec('secp521r1'), type: 'pkcs8', alg: 'ES512', hash: 'sha512' },
  ] as const;
  for (const { name, pair, type, alg, hash, ...rest } of rows) {
    test(`signs with ${name}`, async () => {
      const signer = createTokenSigner(('before' in rest ? rest.before : '') + pem(pair, type));
      const [header = '', payload = '', signature = ''] = (await signer.sign({ sub: 'x', iss: 'y' })).split('.');
      const kid = createHash('sha256')
        .update(pair.publicKey.export({ type: 'spki', format: 'der' }))
        .digest('base64url');
      expect(Buffer.from(header, 'base64url').toString()).toBe(JSON.stringify({ alg, kid }));
      expect(Buffer.from(payload, 'base64url').toString()).toBe('{"iss":"y","sub":"x"}');
      const key = { key: pair.publicKey, dsaEncoding: 'ieee-p1363' } as const;
      const isGenuine = verify(hash, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'));
      expect(isGenuine).toBe(true);
    });
  }

  const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  const encrypted = rsa.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
  const refused = [
    { name: 'nothing', content: '', message: 'contains no RSA or ECDSA private key' },
    {
      name: 'a public key',
      content: rsa.publicKey.export({ type: 'spki', format: 'pem' }),
      message: 'contains no RSA or ECDSA private key',
    },
    { name: 'an encrypted key', content: encrypted, message: 'contains no RSA or ECDSA private key' },
    {
      name: 'a damaged key',
      content: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
      message: 'contains no RSA or ECDSA private key',
    },
    {
      name: 'an RSA key that is too short',
      content: pem(generateKeyPairSync('rsa', { modulusLength: 1024 }), 'pkcs8'),
      message: 'an RSA key of 1024 bits',
    },
    { name: 'a key of another type', content: ed25519, message: 'a key of type ed25519' },
    { name: 'another curve', content: pem(ec('secp256k1'), 'pkcs8'), message: 'on the curve secp256k1' },
  ];
  for (const { name, content, message } of refused) {
    test(`refuses ${name}`, () => {
      expect(() => createTokenSigner(content)).toThrow(PrivateKeyError);
      expect(() => createTokenSigner(content)).toThrow(message);
    });
  }
});
