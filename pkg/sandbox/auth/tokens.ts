import { createPublicKey, type KeyObject } from 'node:crypto';

import { errors, jwtVerify, SignJWT, type JWTPayload } from 'jose';
import * as z from 'zod';

const issuer = 'https://kubernetes.default.svc.cluster.local';

export interface TokenSubject {
  readonly namespace: string;
  readonly serviceAccount: { readonly name: string; readonly uid: string };
  /** The Secret of a legacy token. The token is not valid once the Secret has another token. */
  readonly secret?: string | undefined;
  /** The object that the token is bound to. The token is not valid once that object is deleted. */
  readonly boundTo?: { readonly kind: string; readonly name: string; readonly uid: string } | undefined;
}

export interface TokenClaims {
  readonly audiences: readonly string[];
  readonly issuedAtSeconds: number;
  readonly expiresAtSeconds: number;
  readonly subject: TokenSubject;
}

/** Signs and verifies the tokens of service accounts: JSON web tokens in the format of kube-apiserver. */
export class TokenSigner {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #algorithm: string;

  constructor(privateKey: KeyObject) {
    this.#privateKey = privateKey;
    this.#publicKey = createPublicKey(privateKey);
    this.#algorithm = privateKey.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256';
  }

  issue({ audiences, issuedAtSeconds, expiresAtSeconds, subject }: TokenClaims): Promise<string> {
    const { namespace, serviceAccount, boundTo } = subject;
    const claims = {
      aud: audiences.length > 0 ? [...audiences] : [issuer],
      exp: expiresAtSeconds,
      iat: issuedAtSeconds,
      nbf: issuedAtSeconds,
      iss: issuer,
      'kubernetes.io': {
        namespace,
        serviceaccount: serviceAccount,
        ...(boundTo !== undefined && { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid } }),
      },
      sub: `system:serviceaccount:${namespace}:${serviceAccount.name}`,
    };
    return new SignJWT(claims).setProtectedHeader({ alg: this.#algorithm, typ: 'JWT' }).sign(this.#privateKey);
  }

  /** The subject of a token. Undefined if we did not sign it, or if it is not valid at the given time. */
  async read(token: string, nowMs: number): Promise<TokenSubject | undefined> {
    const options = { algorithms: [this.#algorithm], currentDate: new Date(nowMs) };
    try {
      const { payload } = await jwtVerify(token, this.#publicKey, options);
      return readClaims(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}

const boundSchema = z.object({
  exp: z.number(),
  'kubernetes.io': z.object({
    namespace: z.string(),
    serviceaccount: z.object({ name: z.string(), uid: z.string() }),
    pod: z.object({ name: z.string(), uid: z.string() }).optional(),
    secret: z.object({ name: z.string(), uid: z.string() }).optional(),
  }),
});

/** The legacy form, which is stored in a Secret and does not expire. */
const legacySchema = z.object({
  'kubernetes.io/serviceaccount/namespace': z.string(),
  'kubernetes.io/serviceaccount/service-account.name': z.string(),
  'kubernetes.io/serviceaccount/service-account.uid': z.string(),
  'kubernetes.io/serviceaccount/secret.name': z.string(),
});

function readClaims(claims: JWTPayload): TokenSubject | undefined {
  const legacy = legacySchema.safeParse(claims);
  if (legacy.success) {
    const { data } = legacy;
    const name = data['kubernetes.io/serviceaccount/service-account.name'];
    const uid = data['kubernetes.io/serviceaccount/service-account.uid'];
    const namespace = data['kubernetes.io/serviceaccount/namespace'];
    const secret = data['kubernetes.io/serviceaccount/secret.name'];
    return { namespace, serviceAccount: { name, uid }, secret };
  }
  const bound = boundSchema.safeParse(claims);
  if (!bound.success) return undefined;
  const { 'kubernetes.io': who } = bound.data;
  const { namespace, serviceaccount, pod, secret } = who;
  const boundTo = pod === undefined ? secret && { kind: 'Secret', ...secret } : { kind: 'Pod', ...pod };
  return { namespace, serviceAccount: serviceaccount, boundTo };
}
