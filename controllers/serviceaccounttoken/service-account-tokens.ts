import {
  keyOf,
  Secrets,
  ServiceAccounts,
  splitKey,
  isBeingDeleted,
  type Cached,
  type ObjectKey,
  type Secret,
  type ServiceAccount,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import {
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import type { Store } from '../../informers/index.ts';
import {
  accountOfToken,
  isAccountOfToken,
  tokensByAccount,
  tokenSecrets,
  type TokenAccount,
} from '../../pkg/tokens/index.ts';
import { deleteTokenSecret, removeReference, updateTokenSecret } from './apply.ts';
import { claimsOf, isTokenMissing, planTokenSecret } from './token-secret.ts';
import type { TokenSigner } from './token-signer.ts';

const name = 'serviceaccount-token-controller';

export interface ServiceAccountTokenOptions {
  readonly signer: TokenSigner;
  readonly rootCa: string;
  readonly workers: number;
}

/** Fills token Secrets, deletes those of deleted service accounts, and clears references to deleted token Secrets. */
export function createServiceAccountTokenController(
  context: ControllerContext,
  { signer, rootCa, workers }: ServiceAccountTokenOptions,
): Controller {
  const client = context.clientFor('tokens-controller');
  const queue = context.queueFor('serviceaccount_tokens_service');
  const accounts = context.informers.informerFor(ServiceAccounts);
  const secrets = context.informers.informerFor(Secrets, tokenSecrets);
  secrets.addIndex(tokensByAccount);
  /** The accounts of deleted Secrets. Only the last state of a Secret tells which account may refer to it. */
  const accountsOfDeleted = new Map<ObjectKey, TokenAccount>();

  const enqueue = (secret: Cached<Secret>): void => queue.add(keyOf(secret));
  const secretHandlers = secrets.addHandler(
    {
      added: enqueue,
      updated: (_before, after) => enqueue(after),
      deleted(last) {
        const account = accountOfToken(last);
        if (account === undefined) return;
        accountsOfDeleted.set(keyOf(last), account);
        enqueue(last);
      },
    },
    { resyncMs: 0 },
  );
  const accountHandlers = accounts.addHandler(
    { deleted: (last) => secrets.store.byIndex(tokensByAccount, keyOf(last)).forEach(enqueue) },
    { resyncMs: 0 },
  );

  async function clearReference(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const wanted = accountsOfDeleted.get(key);
    if (wanted === undefined) return;
    const cached = accounts.store.get(wanted.key);
    if (cached !== undefined && isAccountOfToken(cached, wanted)) {
      await removeReference(client, wanted, splitKey(key).name, signal);
    }
    // Meanwhile another Secret of the same name may have been deleted: its reference must still be cleared.
    if (accountsOfDeleted.get(key) === wanted) accountsOfDeleted.delete(key);
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const secret = secrets.store.get(key);
    if (secret === undefined) {
      await clearReference(key, signal);
      return {};
    }
    accountsOfDeleted.delete(key); // the Secret was recreated, so references to it are valid
    const wanted = accountOfToken(secret);
    if (wanted === undefined) return {};
    const account = await findAccount(wanted, { client, accounts: accounts.store }, signal);
    if (account === undefined) {
      if (!isBeingDeleted(secret.metadata)) await deleteTokenSecret(client, secret, signal);
      return {};
    }
    const token = isTokenMissing(secret) ? await signer.sign(claimsOf(account, secret)) : undefined;
    const planned = planTokenSecret(secret, account, { rootCa, token });
    if (planned !== undefined) await updateTokenSecret(client, planned, signal);
    return {};
  }

  const caches = [accounts, secrets, secretHandlers, accountHandlers];
  return { name, run: (signal) => runWorkers({ name, context, queue, reconcile, caches, workers }, signal) };
}

/** The service account of a token. Reads the live object before a token is treated as orphaned: the cache may be stale. */
async function findAccount(
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
