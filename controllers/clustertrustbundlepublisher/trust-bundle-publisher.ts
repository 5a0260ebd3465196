import { ClusterTrustBundles, objectKey, type ClusterTrustBundle, type Kind } from '../../pkg/api/index.ts';
import {
  findServed,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { createSyncCodes } from '../../pkg/publishers/index.ts';
import { applyPlan } from './apply.ts';
import { planPublication, signerName } from './publication.ts';

const name = 'kube-apiserver-serving-clustertrustbundle-publisher-controller';
/** In order of preference. Both versions have the same fields. */
const versions = [ClusterTrustBundles, { ...ClusterTrustBundles, version: 'v1alpha1' }];
/** The only key: every event concerns the one bundle to publish. */
const key = objectKey(undefined, 'kube-apiserver-serving');

/** Publishes the CA certificates of the API server as a ClusterTrustBundle, which pods can mount. */
export function createTrustBundlePublisher(context: ControllerContext, rootCa: string): Controller {
  const { discovery, logger } = context;
  const client = context.clientFor('kube-apiserver-serving-clustertrustbundle-publisher');
  const observe = createSyncCodes(context, {
    subsystem: 'clustertrustbundle_publisher',
    subject: 'cluster trust bundle',
  });

  async function publish(kind: Kind<ClusterTrustBundle>, signal: AbortSignal): Promise<void> {
    const queue = context.queueFor('ca_cert_publisher_cluster_trust_bundles');
    const bundles = context.informers.informerFor(kind, { fieldSelector: `spec.signerName=${signerName}` });
    const pending = new PendingWrites<ClusterTrustBundle>(bundles, context.clock);
    const enqueue = (): void => queue.add(key);
    const handlers = bundles.addHandler({ added: enqueue, updated: enqueue, deleted: enqueue });
    const reconcile = (_key: typeof key, abandon: AbortSignal): Promise<ReconcileResult> =>
      observe(async () => {
        const plan = planPublication(bundles.store.list(), rootCa);
        await applyPlan(plan, { client, kind, pending, logger, key }, abandon);
        return {};
      });
    enqueue(); // there may be no bundle yet, and so no event
    const work = { name, context, queue, reconcile, caches: [bundles, handlers], workers: 1, ownWrites: [pending] };
    await runWorkers(work, signal);
  }

  async function run(signal: AbortSignal): Promise<void> {
    if (rootCa === '') {
      logger.info({}, '--root-ca-file is not set, and the connection has no CA certificates: nothing is published');
      return;
    }
    const kind = await findServed(discovery, versions, signal);
    if (kind !== undefined) return publish(kind, signal);
    logger.info({}, 'ClusterTrustBundles are not served: nothing is published');
  }

  return { name, run };
}
