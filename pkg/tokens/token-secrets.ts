import { objectKey, type Cached, type ObjectKey, type Secret } from '../api/index.ts';
import { defineIndex, type Index, type InformerSelection } from '../../informers/index.ts';

export const accountNameAnnotation = 'kubernetes.io/service-account.name';
export const accountUidAnnotation = 'kubernetes.io/service-account.uid';

/** Secrets that hold tokens of service accounts: of all the others in a cluster nothing needs to be known. */
export const tokenSecrets: InformerSelection = { fieldSelector: 'type=kubernetes.io/service-account-token' };

/** The service account that a token secret says it is for. */
export interface TokenAccount {
  readonly key: ObjectKey;
  /** Empty: whichever has the name. */
  readonly uid: string;
}

export function accountOfToken({ metadata }: Cached<Pick<Secret, 'metadata'>>): TokenAccount | undefined {
  const name = metadata.annotations?.[accountNameAnnotation] ?? '';
  if (name === '') return undefined;
  return { key: objectKey(metadata.namespace, name), uid: metadata.annotations?.[accountUidAnnotation] ?? '' };
}

/** Whether the account that now has the name is the one that is meant. */
export function isAccountOfToken(
  account: { readonly metadata: { readonly uid: string } },
  { uid }: TokenAccount,
): boolean {
  return uid === '' || uid === account.metadata.uid;
}

/** Token secrets by the key of their service account. */
export const tokensByAccount: Index<Secret> = defineIndex<Secret>('service account', (secret) => {
  const account = accountOfToken(secret);
  return account === undefined ? [] : [account.key];
});
