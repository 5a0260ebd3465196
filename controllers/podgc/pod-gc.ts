import { metadataOf, Nodes, objectKey, Pods, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import { isNotFound } from '../../pkg/client/index.ts';
import {
  podsByNode,
  runAll,
  runBounded,
  runPeriodically,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { defineCounter } from '../../pkg/metrics/index.ts';
import { forceDelete } from './apply.ts';
import {
  finished,
  isForceDeleted,
  podsByStage,
  selectTerminated,
  terminating,
  whyStuck,
  type Reason,
} from './select.ts';

const name = 'pod-garbage-collector-controller';
const periodMs = 20_000;
/** A node that the cache does not know may be on its way there: its pods are left alone for this long. */
const quarantineMs = 40_000;
const deletesAtOnce = 16;

export function createPodGcController(context: ControllerContext, terminatedThreshold: number): Controller {
  const { clock, logger } = context;
  const client = context.clientFor('pod-garbage-collector');
  const missingNodes = context.queueFor('orphaned_pods_nodes');
  const pods = context.informers.informerFor(Pods);
  const nodes = context.informers.informerFor(Nodes);
  const metrics = defineMetrics(context);
  const keyOfNode = (nodeName: string): ObjectKey => objectKey(undefined, nodeName);

  pods.addIndex(podsByNode);
  pods.addIndex(podsByStage);
  const checkNodeOf = ({ spec: { nodeName = '' } }: Cached<Pod>): void => {
    if (nodeName === '' || nodes.store.get(keyOfNode(nodeName)) !== undefined) return;
    missingNodes.addAfter(keyOfNode(nodeName), quarantineMs);
  };
  const podHandlers = pods.addHandler({
    added: checkNodeOf,
    updated(before, after) {
      if (before.spec.nodeName !== after.spec.nodeName) checkNodeOf(after);
    },
  });
  nodes.addHandler({
    deleted({ metadata }) {
      if (pods.store.byIndex(podsByNode, metadata.name).length === 0) return;
      missingNodes.addAfter(keyOfNode(metadata.name), quarantineMs);
    },
  });

  /** Force-deletes the pods of a node that is gone for good, once its quarantine is over. */
  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    if (nodes.store.get(key) !== undefined) return {};
    if (pods.store.byIndex(podsByNode, key).length === 0) return {};
    try {
      await client.get(metadataOf(Nodes), key, signal);
      return { requeueAfterMs: quarantineMs }; // it is there: the cache is yet to see it
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    await collect(pods.store.byIndex(podsByNode, key), () => 'orphaned', signal);
    return {};
  }

  async function collectStuckAndOld(signal: AbortSignal): Promise<void> {
    const stuck = new Map<Cached<Pod>, Reason>();
    for (const pod of pods.store.byIndex(podsByStage, terminating)) {
      const reason = whyStuck(pod, nodes.store.get(keyOfNode(pod.spec.nodeName ?? '')));
      if (reason !== undefined) stuck.set(pod, reason);
    }
    const old = selectTerminated(pods.store.byIndex(podsByStage, finished), terminatedThreshold);
    const all = [...old.filter((pod) => !stuck.has(pod)), ...stuck.keys()];
    await collect(all, (pod) => stuck.get(pod) ?? 'terminated', signal);
  }

  async function collect(
    selected: readonly Cached<Pod>[],
    reasonOf: (pod: Cached<Pod>) => Reason,
    signal: AbortSignal,
  ): Promise<void> {
    const unfinished = selected.filter((pod) => !isForceDeleted(pod));
    if (unfinished.length === 0) return;
    logger.info({ pods: unfinished.length }, 'force-deleting pods');
    await runBounded(deletesAtOnce, unfinished, async (pod) => {
      signal.throwIfAborted();
      const labels = { namespace: pod.metadata.namespace ?? '', reason: reasonOf(pod) };
      metrics.deletes.with(labels).inc();
      try {
        await forceDelete(client, pod, { reason: reasonOf(pod), nowMs: clock.now() }, signal);
      } catch (error) {
        metrics.errors.with(labels).inc();
        throw error;
      }
    });
  }

  const caches = [pods, nodes, podHandlers];
  const orphans = { name, context, queue: missingNodes, reconcile, caches, workers: 1 };
  return {
    name,
    run: (signal) =>
      runAll(
        [
          (inner) => runWorkers(orphans, inner),
          (inner) => runPeriodically({ periodMs, clock, logger, caches }, collectStuckAndOld, inner),
        ],
        signal,
      ),
  };
}

function defineMetrics({ metrics }: ControllerContext) {
  const labels = ['namespace', 'reason'] as const;
  return {
    deletes: defineCounter(metrics, {
      name: 'pod_gc_collector_force_delete_pods_total',
      help: 'Pods deleted without grace, by namespace and reason',
      labels,
    }),
    errors: defineCounter(metrics, {
      name: 'pod_gc_collector_force_delete_pod_errors_total',
      help: 'Failures to delete pods without grace, by namespace and reason',
      labels,
    }),
  };
}
