import { keyOf, Namespaces, objectKey, ServiceAccounts, type ObjectKey } from '../../pkg/api/index.ts';
import {
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { createAccount } from './apply.ts';

const name = 'serviceaccount-controller';

/** The service account of pods that name none. Without it, the API server rejects these pods. */
const accountName = 'default';

/** Creates the `default` service account in every namespace. Keys are namespaces. */
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
    if (namespaces.store.get(key)?.status?.phase !== 'Active') return {}; // a terminating namespace accepts no new objects
    const account = objectKey(key, accountName);
    if (accounts.store.get(account) === undefined) await createAccount(client, account, signal);
    return {};
  }

  const caches = [namespaces, accounts, namespaceHandlers, accountHandlers];
  return { name, run: (signal) => runWorkers({ name, context, queue, reconcile, caches, workers: 1 }, signal) };
}
