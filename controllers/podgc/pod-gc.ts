import { Nodes, objectKey, Pods, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import {
  podsByNode,
  runAll,
  runPeriodically,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { collectPods, nodeExists } from './apply-collection.ts';
import { definePodGcMetrics } from './metrics.ts';
import { finished, podsByStage, selectForDeletion, terminating } from './select.ts';

const name = 'pod-garbage-collector-controller';
const periodMs = 20_000;
/** How long the pods of a missing node are kept: the node may exist and not be in the cache yet. */
const quarantineMs = 40_000;

export function createPodGcController(context: ControllerContext, terminatedThreshold: number): Controller {
  const { clock, logger } = context;
  const client = context.clientFor('pod-garbage-collector');
  const missingNodes = context.queueFor('orphaned_pods_nodes');
  const pods = context.informers.informerFor(Pods);
  const nodes = context.informers.informerFor(Nodes);
  const deps = { client, clock, logger, metrics: definePodGcMetrics(context.metrics) };
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
      if (pods.store.countByIndex(podsByNode, metadata.name) === 0) return;
      missingNodes.addAfter(keyOfNode(metadata.name), quarantineMs);
    },
  });

  /** Force-deletes the pods of a node that is still missing after the quarantine. */
  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    if (nodes.store.get(key) !== undefined) return {};
    if (pods.store.countByIndex(podsByNode, key) === 0) return {};
    if (await nodeExists(client, key, signal)) return { requeueAfterMs: quarantineMs };
    const orphaned = pods.store.byIndex(podsByNode, key).map((pod) => [pod, 'orphaned'] as const);
    await collectPods(new Map(orphaned), deps, signal);
    return {};
  }

  /** Force-deletes pods that are stuck in termination, and the oldest finished pods above the threshold. */
  async function collectPeriodically(signal: AbortSignal): Promise<void> {
    const withNode = (pod: Cached<Pod>) => ({ pod, node: nodes.store.get(keyOfNode(pod.spec.nodeName ?? '')) });
    const selected = selectForDeletion({
      terminating: pods.store.byIndex(podsByStage, terminating).map(withNode),
      finished: pods.store.byIndex(podsByStage, finished),
      terminatedThreshold,
    });
    await collectPods(selected, deps, signal);
  }

  const caches = [pods, nodes, podHandlers];
  const orphans = { name, context, queue: missingNodes, reconcile, caches, workers: 1 };
  const runOrphans = (signal: AbortSignal): Promise<void> => runWorkers(orphans, signal);
  const runCollection = (signal: AbortSignal): Promise<void> =>
    runPeriodically({ periodMs, clock, logger, caches }, collectPeriodically, signal);
  return { name, run: (signal) => runAll([runOrphans, runCollection], signal) };
}
