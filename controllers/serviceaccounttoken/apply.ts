import {
  keyOf,
  metadataOf,
  Secrets,
  ServiceAccounts,
  type Cached,
  type Secret,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import { isAccountOfToken, type TokenAccount } from '../../pkg/tokens/index.ts';
import { withoutReference } from './token-secret.ts';

/** Updates the version that was planned on. After a conflict, the next sync plans again. */
export async function updateTokenSecret(client: Client, secret: Unsaved<Secret>, signal: AbortSignal): Promise<void> {
  await ignoring([isNotFound], client.update(metadataOf(Secrets), secret, signal));
}

export async function deleteTokenSecret(client: Client, secret: Cached<Secret>, signal: AbortSignal): Promise<void> {
  const { uid } = secret.metadata;
  await ignoring([isNotFound], client.delete(Secrets, keyOf(secret), { preconditions: { uid } }, signal));
}

export async function removeReference(
  client: Client,
  wanted: TokenAccount,
  secretName: string,
  signal: AbortSignal,
): Promise<void> {
  const remove = async (): Promise<void> => {
    const account = await client.get(ServiceAccounts, wanted.key, signal);
    const updated = isAccountOfToken(account, wanted) ? withoutReference(account, secretName) : undefined;
    if (updated !== undefined) await client.update(metadataOf(ServiceAccounts), updated, signal);
  };
  await ignoring([isNotFound], remove());
}

async function ignoring(expected: readonly ((error: unknown) => boolean)[], work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!expected.some((isExpected) => isExpected(error))) throw error;
  }
}
