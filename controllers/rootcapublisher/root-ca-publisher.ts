import {
  ConfigMaps,
  keyOf,
  Namespaces,
  objectKey,
  type Cached,
  type ConfigMap,
  type ObjectKey,
} from '../../pkg/api/index.ts';
import {
  decided,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { createSyncCodes } from '../../pkg/publishers/index.ts';
import { createConfigMap, updateConfigMap } from './apply.ts';
import { configMapName, planPublication } from './publication.ts';

const name = 'root-ca-certificate-publisher-controller';

/** Publishes the CA certificates of the API server to every namespace. Keys are namespaces. */
export function createRootCaPublisher(context: ControllerContext, rootCa: string): Controller {
  const client = context.clientFor('root-ca-cert-publisher');
  const queue = context.queueFor('root_ca_cert_publisher');
  const observe = createSyncCodes(context, { subsystem: 'root_ca_cert_publisher', subject: 'namespace' });
  const namespaces = context.informers.informerFor(Namespaces);
  // A cluster may have many large ConfigMaps, and only one per namespace matters here.
  const configMaps = context.informers.informerFor(ConfigMaps, { fieldSelector: `metadata.name=${configMapName}` });
  const enqueueNamespaceOf = ({ metadata }: Cached<ConfigMap>): void =>
    queue.add(objectKey(undefined, metadata.namespace ?? ''));
  const configMapHandlers = configMaps.addHandler({
    added: enqueueNamespaceOf,
    updated: (_before, after) => enqueueNamespaceOf(after),
    deleted: enqueueNamespaceOf,
  });
  const namespaceHandlers = namespaces.addHandler({
    added: (namespace) => queue.add(keyOf(namespace)),
    updated(_before, after) {
      if (after.status?.phase === 'Active') queue.add(keyOf(after));
    },
  });

  async function publish(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const present = configMaps.store.get(objectKey(key, configMapName));
    const planned = decided(planPublication(key, present, rootCa));
    if (planned === undefined) return;
    if (present !== undefined) return updateConfigMap(client, planned, signal);
    if (namespaces.store.get(key)?.status?.phase === 'Terminating') return; // a terminating namespace accepts no new objects
    await createConfigMap(client, planned, signal);
  }

  const reconcile = (key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> =>
    observe(async () => {
      await publish(key, signal);
      return {};
    });

  const caches = [namespaces, configMaps, configMapHandlers, namespaceHandlers];
  return { name, run: (signal) => runWorkers({ name, context, queue, reconcile, caches, workers: 1 }, signal) };
}
