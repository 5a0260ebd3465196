import { createHmac } from 'node:crypto';

import { ownValue, setOwn, type Cached, type ConfigMap } from '../../pkg/api/index.ts';
import { computeTokenExpiry, tokenField, type TokenSecret } from '../../pkg/tokens/index.ts';

/** A token that may sign. */
export interface SigningToken {
  readonly id: string;
  readonly secret: string;
}

const signaturePrefix = 'jws-kubeconfig-';

/** The token of a Secret, if it may sign: complete, named after its id, not expired, and meant for signing. */
export function selectSigningToken(secret: TokenSecret, nowMs: number): SigningToken | undefined {
  const [, nameId] = /^bootstrap-token-([a-z0-9]{6})$/.exec(secret.metadata.name) ?? [];
  const token = { id: tokenField(secret, 'token-id'), secret: tokenField(secret, 'token-secret') };
  if (nameId === undefined || token.id !== nameId || token.secret === '') return undefined;
  if (computeTokenExpiry(secret, nowMs).kind === 'expired') return undefined;
  return tokenField(secret, 'usage-bootstrap-signing') === 'true' ? token : undefined;
}

/**
 * The data that the ConfigMap should have: one signature of its kubeconfig for each token, and no other signature. Undefined if
 * it has them already, or has no kubeconfig.
 */
export function computeSignedData(
  { data }: Cached<Pick<ConfigMap, 'data'>>,
  tokens: readonly SigningToken[],
): Record<string, string> | undefined {
  const present: Readonly<Record<string, string>> = data ?? {};
  const content = ownValue(present, 'kubeconfig');
  if (content === undefined) return undefined;
  const signed: Record<string, string> = {};
  for (const [name, value] of Object.entries(present)) {
    if (!name.startsWith(signaturePrefix)) setOwn(signed, name, value);
  }
  for (const { id, secret } of tokens) signed[`${signaturePrefix}${id}`] = signDetached(content, { id, secret });
  const names = Object.keys(signed);
  const isSame =
    names.length === Object.keys(present).length &&
    names.every((name) => ownValue(present, name) === ownValue(signed, name));
  return isSame ? undefined : signed;
}

/** A JSON Web Signature (HS256) with detached content: the verifier already has the content. */
function signDetached(content: string, { id, secret }: SigningToken): string {
  const encode = (text: string): string => Buffer.from(text).toString('base64url');
  const header = encode(JSON.stringify({ alg: 'HS256', kid: id }));
  const signature = createHmac('sha256', secret)
    .update(`${header}.${encode(content)}`)
    .digest('base64url');
  return `${header}..${signature}`;
}
