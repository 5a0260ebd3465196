import { ownValue, setOwn, type Cached, type Secret, type ServiceAccount, type Unsaved } from '../../pkg/api/index.ts';
import { accountNameAnnotation, accountUidAnnotation } from '../../pkg/tokens/index.ts';
import type { Claims } from './token-signer.ts';

export interface TokenParts {
  /** A new token, for a Secret without one. */
  readonly token: string | undefined;
  /** Empty: keep the value in the Secret. */
  readonly rootCa: string;
}

/** The token Secret with all required data; undefined if it is already complete. */
export function planTokenSecret(
  secret: Cached<Secret>,
  account: Cached<ServiceAccount>,
  { token, rootCa }: TokenParts,
): Unsaved<Secret> | undefined {
  const data: Record<string, string> = { ...secret.data };
  let changed = false;
  const put = (field: string, value: string): void => {
    setOwn(data, field, Buffer.from(value).toString('base64'));
    changed = true;
  };
  if (rootCa !== '' && data['ca.crt'] !== Buffer.from(rootCa).toString('base64')) put('ca.crt', rootCa);
  if (isMissing(data, 'namespace')) put('namespace', secret.metadata.namespace ?? '');
  if (token !== undefined && isTokenMissing(secret)) put('token', token);
  if (!changed) return undefined;
  const annotations = {
    ...secret.metadata.annotations,
    [accountNameAnnotation]: account.metadata.name,
    [accountUidAnnotation]: account.metadata.uid,
  };
  return { ...secret, metadata: { ...secret.metadata, annotations }, data } as Unsaved<Secret>;
}

export function isTokenMissing({ data = {} }: Cached<Secret>): boolean {
  return isMissing(data, 'token');
}

function isMissing(data: Readonly<Record<string, string>>, field: string): boolean {
  return (ownValue(data, field) ?? '') === '';
}

/** The claims of a token. The API server checks service account and Secret, so deleting either revokes the token. */
export function claimsOf(account: Cached<ServiceAccount>, secret: Cached<Secret>): Claims {
  const { name, namespace = '', uid } = account.metadata;
  return {
    iss: 'kubernetes/serviceaccount',
    sub: `system:serviceaccount:${namespace}:${name}`,
    'kubernetes.io/serviceaccount/namespace': namespace,
    'kubernetes.io/serviceaccount/secret.name': secret.metadata.name,
    'kubernetes.io/serviceaccount/service-account.name': name,
    'kubernetes.io/serviceaccount/service-account.uid': uid,
  };
}

/** The service account without references to a deleted Secret; undefined if it has none. */
export function withoutReference(account: ServiceAccount, secretName: string): ServiceAccount | undefined {
  const secrets = (account.secrets ?? []).filter(({ name }) => name !== secretName);
  return secrets.length === (account.secrets ?? []).length ? undefined : { ...account, secrets };
}
