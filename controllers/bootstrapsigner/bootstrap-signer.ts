import { ConfigMaps, objectKey, Secrets, type ConfigMap, type ObjectKey, type Secret } from '../../pkg/api/index.ts';
import {
  enqueueMapped,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { bootstrapTokenNamespace, bootstrapTokens } from '../../pkg/tokens/index.ts';
import { applySignedData } from './apply.ts';
import { computeSignedData, selectSigningToken } from './signatures.ts';

const name = 'bootstrap-signer-controller';

/** A joining node reads this ConfigMap without credentials, and trusts it because of the signatures. */
const clusterInfo = objectKey('kube-public', 'cluster-info');

/** Signs the `cluster-info` ConfigMap with every bootstrap token that may sign. */
export function createBootstrapSigner(context: ControllerContext): Controller {
  const client = context.clientFor('bootstrap-signer');
  const queue = context.queueFor('bootstrap_signer_queue');
  const configMaps = context.informers.informerFor(ConfigMaps, { fieldSelector: 'metadata.name=cluster-info' });
  const secrets = context.informers.informerFor(Secrets, bootstrapTokens);
  const pending = new PendingWrites<ConfigMap>(configMaps, context.clock);
  const configMapHandlers = configMaps.addHandler(
    enqueueMapped<ConfigMap>(queue, ({ metadata }) => (metadata.namespace === 'kube-public' ? [clusterInfo] : [])),
  );
  const secretHandlers = secrets.addHandler(
    enqueueMapped<Secret>(queue, ({ metadata }) =>
      metadata.namespace === bootstrapTokenNamespace ? [clusterInfo] : [],
    ),
  );

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const configMap = configMaps.store.get(key);
    if (configMap === undefined) return {};
    const nowMs = context.clock.now();
    const tokens = secrets.store
      .list(bootstrapTokenNamespace)
      .map((secret) => selectSigningToken(secret, nowMs))
      .filter((token) => token !== undefined);
    const data = computeSignedData(configMap, tokens);
    if (data !== undefined) await applySignedData(configMap, data, { client, pending }, signal);
    return {};
  }

  const caches = [configMaps, secrets, configMapHandlers, secretHandlers];
  const care = { primary: configMaps.store, ownWrites: [pending] };
  const work = { name, context, queue, reconcile, caches, workers: 1, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
