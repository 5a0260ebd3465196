import { keyOf, metadataOf, Namespaces, objectKey, ServiceAccounts, type ObjectKey } from '../../pkg/api/index.ts';
import { isAlreadyExists } from '../../pkg/client/index.ts';
import {
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';

const name = 'serviceaccount-controller';

/** The account that pods run as unless they say otherwise: without it the API server admits none. */
const accountName = 'default';

/** Keeps a `default` service account in every namespace. Keys are namespaces. */
export function createServiceAccountController(context: ControllerContext): Controller {
  const client = context.clientFor('service-account-controller');
  const queue = context.queueFor('serviceaccount');
  const namespaces = context.informers.informerFor(Namespaces);
  const accounts = context.informers.informerFor(ServiceAccounts);
  const namespaceHandlers = namespaces.addHandler(
    {
      added: (namespace) => queue.add(keyOf(namespace)),
      updated: (_before, after) => queue.add(keyOf(after)),
    },
    { resyncMs: 0 },
  );
  const accountHandlers = accounts.addHandler(
    {
      deleted({ metadata }) {
        if (metadata.name === accountName) queue.add(objectKey(undefined, metadata.namespace ?? ''));
      },
    },
    { resyncMs: 0 },
  );

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    if (namespaces.store.get(key)?.status?.phase !== 'Active') return {}; // one that is going takes nothing new
    if (accounts.store.get(objectKey(key, accountName)) !== undefined) return {};
    try {
      await client.create(metadataOf(ServiceAccounts), { metadata: { namespace: key, name: accountName } }, signal);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    return {};
  }

  const caches = [namespaces, accounts, namespaceHandlers, accountHandlers];
  return { name, run: (signal) => runWorkers({ name, context, queue, reconcile, caches, workers: 1 }, signal) };
}
