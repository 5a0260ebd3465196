import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

import * as z from 'zod';

const issuer = 'https://kubernetes.default.svc.cluster.local';

export interface TokenSubject {
  readonly namespace: string;
  readonly serviceAccount: { readonly name: string; readonly uid: string };
  /** The secret that an older token lies in: the token is worth nothing once the secret has another. */
  readonly secret?: string | undefined;
  /** What the token is bound to: it is worth nothing once this is gone. */
  readonly boundTo?: { readonly kind: string; readonly name: string; readonly uid: string } | undefined;
}

export interface TokenClaims {
  readonly audiences: readonly string[];
  readonly issuedAtSeconds: number;
  readonly expiresAtSeconds: number;
  readonly subject: TokenSubject;
}

/** Signs and reads the tokens of service accounts: JSON web tokens, as the API server issues them. */
export class TokenSigner {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;

  constructor(privateKey: KeyObject) {
    this.#privateKey = privateKey;
    this.#publicKey = createPublicKey(privateKey);
  }

  issue({ audiences, issuedAtSeconds, expiresAtSeconds, subject }: TokenClaims): string {
    const { namespace, serviceAccount, boundTo } = subject;
    const claims = {
      aud: audiences.length > 0 ? audiences : [issuer],
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
    const isElliptic = this.#privateKey.asymmetricKeyType === 'ec';
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${encode({ alg: isElliptic ? 'ES256' : 'RS256', typ: 'JWT' })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  /** Whose token it is; undefined when it is none of ours, was tampered with, or its time is over. */
  read(token: string, nowMs: number): TokenSubject | undefined {
    const [header, payload, signature, ...more] = token.split('.');
    if (header === undefined || payload === undefined || signature === undefined || more.length > 0) return undefined;
    const key = { key: this.#publicKey, dsaEncoding: 'ieee-p1363' } as const;
    const isOurs = verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'));
    return isOurs ? readClaims(payload, nowMs) : undefined;
  }
}

const boundSchema = z.object({
  exp: z.number(),
  nbf: z.number().optional(),
  'kubernetes.io': z.object({
    namespace: z.string(),
    serviceaccount: z.object({ name: z.string(), uid: z.string() }),
    pod: z.object({ name: z.string(), uid: z.string() }).optional(),
    secret: z.object({ name: z.string(), uid: z.string() }).optional(),
  }),
});

/** The older form, which lies in a secret and has no end. */
const legacySchema = z.object({
  'kubernetes.io/serviceaccount/namespace': z.string(),
  'kubernetes.io/serviceaccount/service-account.name': z.string(),
  'kubernetes.io/serviceaccount/service-account.uid': z.string(),
  'kubernetes.io/serviceaccount/secret.name': z.string(),
});

function readClaims(payload: string, nowMs: number): TokenSubject | undefined {
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
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
  const { exp, nbf = 0, 'kubernetes.io': who } = bound.data;
  if (exp * 1000 <= nowMs || nbf * 1000 > nowMs + 60_000) return undefined;
  const { namespace, serviceaccount, pod, secret } = who;
  const boundTo = pod === undefined ? secret && { kind: 'Secret', ...secret } : { kind: 'Pod', ...pod };
  return { namespace, serviceAccount: serviceaccount, boundTo };
}
