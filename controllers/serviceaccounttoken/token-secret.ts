import { ownValue, setOwn, type Cached, type Secret, type ServiceAccount, type Unsaved } from '../../pkg/api/index.ts';
import { accountNameAnnotation, accountUidAnnotation } from '../../pkg/tokens/index.ts';
import type { Claims } from './token-signer.ts';

export interface TokenParts {
  readonly sign: (claims: Claims) => string;
  /** Empty: keep the value in the Secret. */
  readonly rootCa: string;
}

/** The token Secret with all required data; undefined if it is already complete. */
export function planTokenSecret(
  secret: Cached<Secret>,
  account: Cached<ServiceAccount>,
  { sign, rootCa }: TokenParts,
): Unsaved<Secret> | undefined {
  const data: Record<string, string> = { ...secret.data };
  const isMissing = (field: string): boolean => (ownValue(data, field) ?? '') === '';
  let changed = false;
  const put = (field: string, value: string): void => {
    setOwn(data, field, Buffer.from(value).toString('base64'));
    changed = true;
  };
  if (rootCa !== '' && data['ca.crt'] !== Buffer.from(rootCa).toString('base64')) put('ca.crt', rootCa);
  if (isMissing('namespace')) put('namespace', secret.metadata.namespace ?? '');
  if (isMissing('token')) put('token', sign(claimsOf(account, secret)));
  if (!changed) return undefined;
  const annotations = {
    ...secret.metadata.annotations,
    [accountNameAnnotation]: account.metadata.name,
    [accountUidAnnotation]: account.metadata.uid,
  };
  return { ...secret, metadata: { ...secret.metadata, annotations }, data } as Unsaved<Secret>;
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
