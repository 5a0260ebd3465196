import { objectKey, type Cached, type ObjectKey, type Secret } from '../api/index.ts';
import { defineIndex, type Index, type InformerSelection } from '../../informers/index.ts';

export const accountNameAnnotation = 'kubernetes.io/service-account.name';
export const accountUidAnnotation = 'kubernetes.io/service-account.uid';

/** Selects the Secrets that hold service account tokens. No other Secret is watched. */
export const tokenSecrets: InformerSelection = { fieldSelector: 'type=kubernetes.io/service-account-token' };

/** The service account that a token Secret names. */
export interface TokenAccount {
  readonly key: ObjectKey;
  /** Empty: any service account of that name. */
  readonly uid: string;
}

export function accountOfToken({ metadata }: Cached<Pick<Secret, 'metadata'>>): TokenAccount | undefined {
  const name = metadata.annotations?.[accountNameAnnotation] ?? '';
  if (name === '') return undefined;
  return { key: objectKey(metadata.namespace, name), uid: metadata.annotations?.[accountUidAnnotation] ?? '' };
}

/** Whether this service account is the one that the token Secret names. */
export function isAccountOfToken(
  account: { readonly metadata: { readonly uid: string } },
  { uid }: TokenAccount,
): boolean {
  return uid === '' || uid === account.metadata.uid;
}

/** Token Secrets by the key of their service account. */
export const tokensByAccount: Index<Secret> = defineIndex<Secret>('service account', (secret) => {
  const account = accountOfToken(secret);
  return account === undefined ? [] : [account.key];
});
