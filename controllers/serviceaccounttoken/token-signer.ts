import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';

export type Claims = Readonly<Record<string, string>>;

/** Makes signed JSON Web Tokens that never expire: the API server checks the secret that holds one instead. */
export interface TokenSigner {
  sign(claims: Claims): string;
}

interface Algorithm {
  readonly name: string;
  readonly hash: string;
}

const curves: ReadonlyMap<string, Algorithm> = new Map([
  ['prime256v1', { name: 'ES256', hash: 'sha256' }],
  ['secp384r1', { name: 'ES384', hash: 'sha384' }],
  ['secp521r1', { name: 'ES512', hash: 'sha512' }],
]);

/** Takes the first private key of a PEM file. Throws when there is none, or none that tokens can be signed with. */
export function createTokenSigner(pem: string): TokenSigner {
  const key = parsePrivateKey(pem);
  const algorithm = algorithmOf(key);
  const header = encode({ alg: algorithm.name, kid: keyId(key) });
  return {
    sign(claims) {
      const content = `${header}.${encode(sorted(claims))}`;
      // JSON Web Signatures hold the two numbers of an ECDSA signature as they are, not wrapped in DER.
      const signature = sign(algorithm.hash, Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
      return `${content}.${signature.toString('base64url')}`;
    },
  };
}

function parsePrivateKey(pem: string): KeyObject {
  // Files may hold more, such as the parameters that openssl writes before an EC key.
  const blocks = pem.match(/-----BEGIN ((?:EC |RSA )?PRIVATE KEY)-----[^]+?-----END \1-----/g) ?? [];
  let cause: unknown;
  for (const block of blocks) {
    try {
      return createPrivateKey(block);
    } catch (error) {
      cause = error;
    }
  }
  throw new Error('contains no RSA or ECDSA private key', { cause });
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject): Algorithm {
  if (type === 'rsa') return { name: 'RS256', hash: 'sha256' };
  const curve = asymmetricKeyDetails?.namedCurve ?? '';
  const algorithm = type === 'ec' ? curves.get(curve) : undefined;
  if (algorithm !== undefined) return algorithm;
  const found = type === 'ec' ? `an ECDSA key on the curve ${curve}` : `a key of type ${type}`;
  throw new Error(`contains ${found}: it must be RSA, or ECDSA on P-256, P-384 or P-521`);
}

/** Tells verifiers which of their keys to try, without giving the key away. */
function keyId(key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('base64url');
}

function encode(value: Claims): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function sorted(claims: Claims): Claims {
  return Object.fromEntries(Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1)));
}
