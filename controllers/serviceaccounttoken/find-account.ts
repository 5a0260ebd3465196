import { ServiceAccounts, type Cached, type ServiceAccount } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { Store } from '../../informers/index.ts';
import { isAccountOfToken, type TokenAccount } from '../../pkg/tokens/index.ts';

/** The service account of a token. Reads the live object before a token is treated as orphaned: the cache may be stale. */
export async function findAccount(
  wanted: TokenAccount,
  { client, accounts }: { readonly client: Client; readonly accounts: Pick<Store<ServiceAccount>, 'get'> },
  signal: AbortSignal,
): Promise<Cached<ServiceAccount> | undefined> {
  const cached = accounts.get(wanted.key);
  if (cached !== undefined && isAccountOfToken(cached, wanted)) return cached;
  try {
    const live = await client.get(ServiceAccounts, wanted.key, signal);
    return isAccountOfToken(live, wanted) ? live : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
