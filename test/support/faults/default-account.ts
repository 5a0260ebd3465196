import { ServiceAccounts } from '../../../pkg/api/index.ts';
import { isAlreadyExists, type Client } from '../../../pkg/client/index.ts';

/** Creates the account without which the API server refuses pods. */
export async function createDefaultAccount(namespace: string, client: Client, signal: AbortSignal): Promise<void> {
  try {
    await client.create(ServiceAccounts, { metadata: { namespace, name: 'default' } }, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
