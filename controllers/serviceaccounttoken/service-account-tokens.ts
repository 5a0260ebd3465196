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
import { isNotFound } from '../../pkg/client/index.ts';
import {
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import {
  accountOfToken,
  isAccountOfToken,
  tokensByAccount,
  tokenSecrets,
  type TokenAccount,
} from '../../pkg/tokens/index.ts';
import { deleteTokenSecret, removeReference, updateTokenSecret } from './apply.ts';
import { planTokenSecret } from './token-secret.ts';
import type { TokenSigner } from './token-signer.ts';

const name = 'serviceaccount-token-controller';

export interface ServiceAccountTokenOptions {
  readonly signer: TokenSigner;
  readonly rootCa: string;
  readonly workers: number;
}

/** Fills token secrets, deletes those whose service account is gone, and clears references to those that are. */
export function createServiceAccountTokenController(
  context: ControllerContext,
  { signer, rootCa, workers }: ServiceAccountTokenOptions,
): Controller {
  const client = context.clientFor('tokens-controller');
  const queue = context.queueFor('serviceaccount_tokens_service');
  const accounts = context.informers.informerFor(ServiceAccounts);
  const secrets = context.informers.informerFor(Secrets, tokenSecrets);
  secrets.addIndex(tokensByAccount);
  /** The accounts of secrets that have gone: nothing but the last word on a secret tells where its reference may be. */
  const accountsOfGone = new Map<ObjectKey, TokenAccount>();
  const parts = { rootCa, sign: signer.sign };

  const enqueue = (secret: Cached<Secret>): void => queue.add(keyOf(secret));
  const secretHandlers = secrets.addHandler(
    {
      added: enqueue,
      updated: (_before, after) => enqueue(after),
      deleted(last) {
        const account = accountOfToken(last);
        if (account === undefined) return;
        accountsOfGone.set(keyOf(last), account);
        enqueue(last);
      },
    },
    { resyncMs: 0 },
  );
  const accountHandlers = accounts.addHandler(
    { deleted: (last) => secrets.store.byIndex(tokensByAccount, keyOf(last)).forEach(enqueue) },
    { resyncMs: 0 },
  );

  /** The account that a secret is for. A cache may lag behind, and what it does not show would cost a token its life. */
  async function findAccount(wanted: TokenAccount, signal: AbortSignal): Promise<Cached<ServiceAccount> | undefined> {
    const cached = accounts.store.get(wanted.key);
    if (cached !== undefined && isAccountOfToken(cached, wanted)) return cached;
    try {
      const live = await client.get(ServiceAccounts, wanted.key, signal);
      return isAccountOfToken(live, wanted) ? live : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function forgetReference(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const wanted = accountsOfGone.get(key);
    if (wanted === undefined) return;
    const cached = accounts.store.get(wanted.key);
    if (cached !== undefined && isAccountOfToken(cached, wanted)) {
      await removeReference(client, wanted, splitKey(key).name, signal);
    }
    // A secret of the same name may have come and gone while we were waiting: its account is still to be seen to.
    if (accountsOfGone.get(key) === wanted) accountsOfGone.delete(key);
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const secret = secrets.store.get(key);
    if (secret === undefined) {
      await forgetReference(key, signal);
      return {};
    }
    accountsOfGone.delete(key); // there is one again, and references to it are in order
    const wanted = accountOfToken(secret);
    if (wanted === undefined) return {};
    const account = await findAccount(wanted, signal);
    if (account === undefined) {
      if (!isBeingDeleted(secret.metadata)) await deleteTokenSecret(client, secret, signal);
      return {};
    }
    const planned = planTokenSecret(secret, account, parts);
    if (planned !== undefined) await updateTokenSecret(client, planned, signal);
    return {};
  }

  const caches = [accounts, secrets, secretHandlers, accountHandlers];
  return { name, run: (signal) => runWorkers({ name, context, queue, reconcile, caches, workers }, signal) };
}
