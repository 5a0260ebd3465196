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
import { findAccount } from './find-account.ts';
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
  const client = context.clientFor('tokens-controller', { asProcess: true }); // others need the tokens it creates
  const queue = context.queueFor('serviceaccount_tokens_service');
  const accounts = context.informers.informerFor(ServiceAccounts);
  const secrets = context.informers.informerFor(Secrets, tokenSecrets);
  secrets.addIndex(tokensByAccount);
  /** The accounts of deleted Secrets. Only the last state of a Secret has the name of its account. */
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
  const enqueueTokensOf = (account: Cached<ServiceAccount>): void =>
    secrets.store.byIndex(tokensByAccount, keyOf(account)).forEach(enqueue);
  const accountHandlers = accounts.addHandler({ deleted: enqueueTokensOf }, { resyncMs: 0 });

  async function clearReference(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const wanted = accountsOfDeleted.get(key);
    if (wanted === undefined) return {};
    const cached = accounts.store.get(wanted.key);
    if (cached !== undefined && isAccountOfToken(cached, wanted)) {
      await removeReference(client, wanted, splitKey(key).name, signal);
    }
    // Meanwhile another Secret of the same name may have been deleted: its reference must still be cleared.
    if (accountsOfDeleted.get(key) === wanted) accountsOfDeleted.delete(key);
    return {};
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const secret = secrets.store.get(key);
    if (secret === undefined) return clearReference(key, signal);
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
