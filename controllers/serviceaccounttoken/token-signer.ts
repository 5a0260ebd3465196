import { createHash, createPublicKey, type KeyObject } from 'node:crypto';

import { SignJWT } from 'jose';

import { PrivateKeyError, readPrivateKey } from '../../pkg/certificates/index.ts';

export type Claims = Readonly<Record<string, string>>;

/** Makes signed JSON Web Tokens that never expire: the API server checks the secret that holds one instead. */
export interface TokenSigner {
  sign(claims: Claims): Promise<string>;
}

const algorithmByCurve: ReadonlyMap<string, string> = new Map([
  ['prime256v1', 'ES256'],
  ['secp384r1', 'ES384'],
  ['secp521r1', 'ES512'],
]);

/** RFC 7518 asks for this many, and jose signs with no fewer. */
const minRsaBits = 2048;

/** Takes the first private key of a PEM file. Throws a `PrivateKeyError` if it has none that can sign tokens. */
export function createTokenSigner(pem: string): TokenSigner {
  const key = readPrivateKey(pem);
  const header = { alg: algorithmOf(key), kid: keyId(key) };
  return { sign: (claims) => new SignJWT(sorted(claims)).setProtectedHeader(header).sign(key) };
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
  throw new PrivateKeyError(
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
