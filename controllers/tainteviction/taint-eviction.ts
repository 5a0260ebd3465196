import { keyOf, Nodes, objectKey, Pods, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import {
  decided,
  podsByNode,
  runAll,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { Evictions } from '../../pkg/evictions/index.ts';
import { noExecuteTaints, toleratedMs } from '../../pkg/taints/index.ts';
import { applyEviction } from './apply.ts';
import { enqueueOnTaintChange, enqueuePodOfTaintedNode } from './handlers.ts';
import { defineTaintEvictionMetrics } from './metrics.ts';
import { planEviction } from './plan.ts';

const name = 'taint-eviction-controller';
const podWorkers = 8;
const events = {
  reason: 'TaintManagerEviction',
  marking: (pod: ObjectKey) => `Marking for deletion Pod ${pod}`,
  cancelling: (pod: ObjectKey) => `Cancelling deletion of Pod ${pod}`,
  cancelsGone: true,
};

/** Deletes pods from nodes whose NoExecute taints they do not tolerate, or do not tolerate any longer. */
export function createTaintEvictionController(context: ControllerContext): Controller {
  const { clock } = context;
  const nodeQueue = context.queueFor('noexec_taint_node');
  const podQueue = context.queueFor('noexec_taint_pod');
  const pods = context.informers.informerFor(Pods);
  const nodes = context.informers.informerFor(Nodes);
  const allowComparisons = context.gates.isEnabled('TaintTolerationComparisonOperators');
  const evictions = new Evictions(context.recorderFor(name), events);
  const metrics = defineTaintEvictionMetrics(context.metrics);
  const deps = { client: context.clientFor('node-controller'), clock, evictions, metrics };

  pods.addIndex(podsByNode);
  const nodeOf = ({ spec: { nodeName = '' } }: Cached<Pod>) =>
    nodeName === '' ? undefined : nodes.store.get(objectKey(undefined, nodeName));
  const podHandlers = pods.addHandler(
    enqueuePodOfTaintedNode(podQueue, { nodeOf, hasEviction: (key) => evictions.has(key) }),
  );
  const nodeHandlers = nodes.addHandler(enqueueOnTaintChange(nodeQueue));

  /** Enqueues all pods of a tainted node. On a node without taints, enqueues only the pods with an eviction. */
  async function reconcileNode(key: ObjectKey): Promise<ReconcileResult> {
    const node = nodes.store.get(key);
    if (node === undefined) return {};
    const isTainted = noExecuteTaints(node).length > 0;
    if (!isTainted && evictions.size === 0) return {};
    for (const pod of pods.store.byIndex(podsByNode, node.metadata.name)) {
      if (isTainted || evictions.has(keyOf(pod))) podQueue.add(keyOf(pod));
    }
    return {};
  }

  async function reconcilePod(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const pod = pods.store.get(key);
    const eviction = pod && evictions.of(pod);
    if (pod?.spec.nodeName === undefined) return {};
    const node = nodeOf(pod);
    const tolerations = pod.spec.tolerations ?? [];
    const tolerated = node ? toleratedMs(noExecuteTaints(node), tolerations, { allowComparisons }) : 'node-gone';
    const plan = decided(planEviction({ tolerated, eviction, nowMs: clock.monotonic() }));
    return applyEviction(plan, pod, deps, signal);
  }

  const work = { name, context, caches: [pods, nodes, podHandlers, nodeHandlers] };
  const nodeWork = { ...work, queue: nodeQueue, reconcile: reconcileNode, workers: 1 };
  const podCare = { primary: pods.store, forget: (key: ObjectKey): void => evictions.forget(key) };
  const podWork = { ...work, ...podCare, queue: podQueue, reconcile: reconcilePod, workers: podWorkers };
  const loops = [
    (signal: AbortSignal) => runWorkers(nodeWork, signal),
    (signal: AbortSignal) => runWorkers(podWork, signal),
  ];
  return { name, run: (signal) => runAll(loops, signal) };
}
