import { metadataOf, ServiceAccounts, splitKey, type ObjectKey } from '../../pkg/api/index.ts';
import { isAlreadyExists, type Client } from '../../pkg/client/index.ts';

/** Creates a service account unless it exists. */
export async function createAccount(client: Client, account: ObjectKey, signal: AbortSignal): Promise<void> {
  try {
    await client.create(metadataOf(ServiceAccounts), { metadata: splitKey(account) }, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
