import { keyOf, Secrets, type ObjectKey, type Secret } from '../../pkg/api/index.ts';
import {
  decided,
  enqueueMapped,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { bootstrapTokenNamespace, bootstrapTokens, computeTokenExpiry } from '../../pkg/tokens/index.ts';
import { deleteToken } from './apply.ts';

const name = 'token-cleaner-controller';

/** Deletes bootstrap tokens when they expire. */
export function createTokenCleaner(context: ControllerContext): Controller {
  const client = context.clientFor('token-cleaner');
  const queue = context.queueFor('token_cleaner');
  const secrets = context.informers.informerFor(Secrets, bootstrapTokens);
  const handlers = secrets.addHandler(
    enqueueMapped<Secret>(queue, (secret) =>
      secret.metadata.namespace === bootstrapTokenNamespace ? [keyOf(secret)] : [],
    ),
  );

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const secret = secrets.store.get(key);
    if (secret === undefined) return {};
    const expiry = decided(computeTokenExpiry(secret, context.clock.now()));
    if (expiry.kind === 'later') return { requeueAfterMs: expiry.inMs };
    if (expiry.kind === 'expired') await deleteToken(client, secret, signal);
    return {};
  }

  const work = { name, context, queue, reconcile, caches: [secrets, handlers], workers: 1, primary: secrets.store };
  return { name, run: (signal) => runWorkers(work, signal) };
}
