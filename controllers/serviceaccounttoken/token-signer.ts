import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

import { SignJWT } from 'jose';

export type Claims = Readonly<Record<string, string>>;

/** Makes signed JSON Web Tokens that never expire: the API server checks the secret that holds one instead. */
export interface TokenSigner {
  sign(claims: Claims): Promise<string>;
}

/** A file holds no private key that tokens can be signed with. The message completes "the file …". */
export class TokenKeyError extends Error {
  override readonly name = 'TokenKeyError';
  readonly reason = 'UnusableTokenKey';
}

const algorithmByCurve: ReadonlyMap<string, string> = new Map([
  ['prime256v1', 'ES256'],
  ['secp384r1', 'ES384'],
  ['secp521r1', 'ES512'],
]);

/** RFC 7518 asks for this many, and jose signs with no fewer. */
const minRsaBits = 2048;

/** Takes the first private key of a PEM file. Throws a `TokenKeyError` if it has none that can sign tokens. */
export function createTokenSigner(pem: string): TokenSigner {
  const key = parsePrivateKey(pem);
  const header = { alg: algorithmOf(key), kid: keyId(key) };
  return { sign: (claims) => new SignJWT(sorted(claims)).setProtectedHeader(header).sign(key) };
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
  throw new TokenKeyError('contains no RSA or ECDSA private key', { cause });
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject): string {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {};
  if (type === 'rsa' && modulusLength >= minRsaBits) return 'RS256';
  const algorithm = type === 'ec' ? algorithmByCurve.get(namedCurve) : undefined;
  if (algorithm !== undefined) return algorithm;
  const found =
    type === 'ec'
      ? `an ECDSA key on the curve ${namedCurve}`
      : type === 'rsa'
        ? `an RSA key of ${modulusLength} bits`
        : `a key of type ${type}`;
  throw new TokenKeyError(
    `contains ${found}: it must be RSA of at least ${minRsaBits} bits, or ECDSA on P-256, P-384 or P-521`,
  );
}

/** Tells verifiers which of their keys to try, without giving the key away. */
function keyId(key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('base64url');
}

function sorted(claims: Claims): Claims {
  return Object.fromEntries(Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1)));
}
