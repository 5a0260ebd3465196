import {
  isEqualJson,
  keyOf,
  Nodes,
  objectKey,
  Pods,
  splitKey,
  type Cached,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import {
  podsByNode,
  runAll,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { defineCounter, defineHistogram } from '../../pkg/metrics/index.ts';
import { evictPod } from './apply.ts';
import { planEviction, type Eviction } from './plan.ts';
import { noExecuteTaints, toleratedMs } from '../../pkg/taints/index.ts';

const name = 'taint-eviction-controller';
const evictionsAtOnce = 8;

/** Deletes pods from nodes whose NoExecute taints they do not tolerate, or no longer. */
export function createTaintEvictionController(context: ControllerContext): Controller {
  const { clock } = context;
  const client = context.clientFor('node-controller');
  const recorder = context.recorderFor(name);
  const metrics = defineMetrics(context);
  const nodeQueue = context.queueFor('noexec_taint_node');
  const podQueue = context.queueFor('noexec_taint_pod');
  const pods = context.informers.informerFor(Pods);
  const nodes = context.informers.informerFor(Nodes);
  const allowComparisons = context.gates.isEnabled('TaintTolerationComparisonOperators');
  const evictions = new Map<ObjectKey, Eviction>();

  pods.addIndex(podsByNode);
  const nodeOf = ({ spec: { nodeName = '' } }: Cached<Pod>) =>
    nodeName === '' ? undefined : nodes.store.get(objectKey(undefined, nodeName));
  // A pod whose node is not tainted, or not known yet, needs no look: when that changes, the node brings its pods.
  const enqueueIfTainted = (pod: Cached<Pod>): void => {
    const node = nodeOf(pod);
    if (node !== undefined && noExecuteTaints(node).length > 0) podQueue.add(keyOf(pod));
  };
  const podHandlers = pods.addHandler({
    added: enqueueIfTainted,
    updated(before, after) {
      const isSame =
        before.spec.nodeName === after.spec.nodeName && isEqualJson(before.spec.tolerations, after.spec.tolerations);
      if (!isSame) enqueueIfTainted(after);
    },
    deleted(last) {
      if (evictions.has(keyOf(last))) podQueue.add(keyOf(last));
    },
  });
  const nodeHandlers = nodes.addHandler({
    added: (node) => nodeQueue.add(keyOf(node)),
    updated(before, after) {
      if (!isEqualJson(noExecuteTaints(before), noExecuteTaints(after))) nodeQueue.add(keyOf(after));
    },
  });

  /** A tainted node concerns all its pods, one without taints only those whose time runs. */
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
    if (pod === undefined || evictions.get(key)?.uid !== pod.metadata.uid) drop(key);
    if (pod === undefined || pod.spec.nodeName === undefined) return {};
    const nowMs = clock.monotonic();
    const { uid } = pod.metadata;
    const plan = planEviction({ tolerated: toleratedBy(pod), eviction: evictions.get(key), nowMs });
    switch (plan.kind) {
      case 'leave':
        return {};
      case 'cancel':
        drop(key);
        return {};
      case 'wait':
        evictions.set(key, { kind: 'waiting', uid, dueMs: plan.dueMs });
        return { requeueAfterMs: plan.dueMs - nowMs };
      case 'evict':
        if (plan.instead) drop(key);
        await evict(pod, plan.dueMs, signal);
        return {};
    }
  }

  function toleratedBy(pod: Cached<Pod>): number | undefined | 'node-gone' {
    const node = nodeOf(pod);
    if (node === undefined) return 'node-gone';
    return toleratedMs(noExecuteTaints(node), pod.spec.tolerations ?? [], { allowComparisons });
  }

  /** Forgets what was under way, and says so if somebody may have been waiting for it. */
  function drop(key: ObjectKey): void {
    if (evictions.get(key)?.kind === 'waiting') tell(key, `Cancelling deletion of Pod ${key}`);
    evictions.delete(key);
  }

  async function evict(pod: Cached<Pod>, dueMs: number, signal: AbortSignal): Promise<void> {
    const key = keyOf(pod);
    const { uid } = pod.metadata;
    if (evictions.get(key)?.kind !== 'evicting') tell(key, `Marking for deletion Pod ${key}`);
    evictions.set(key, { kind: 'evicting', uid, dueMs });
    if (await evictPod(client, pod, clock.now(), signal)) {
      metrics.deletions.inc();
      metrics.latency.observe((clock.monotonic() - dueMs) / 1000);
    }
    // Gone from the cache meanwhile: then nothing will come to take the entry away.
    if (pods.store.get(key)?.metadata.uid === uid) evictions.set(key, { kind: 'evicted', uid });
    else evictions.delete(key);
  }

  function tell(key: ObjectKey, message: string): void {
    const { namespace, name: podName } = splitKey(key);
    const subject = { metadata: { namespace, name: podName } };
    recorder.event(Pods, subject, { type: 'Normal', reason: 'TaintManagerEviction', message });
  }

  const caches = [pods, nodes, podHandlers, nodeHandlers];
  const nodeWork = { name, context, queue: nodeQueue, reconcile: reconcileNode, caches, workers: 1 };
  const podCare = { workers: evictionsAtOnce, primary: pods.store };
  const podWork = { name, context, queue: podQueue, reconcile: reconcilePod, caches, ...podCare };
  return {
    name,
    run: (signal) => runAll([(inner) => runWorkers(nodeWork, inner), (inner) => runWorkers(podWork, inner)], signal),
  };
}

function defineMetrics({ metrics }: ControllerContext) {
  return {
    deletions: defineCounter(metrics, {
      name: 'taint_eviction_controller_pod_deletions_total',
      help: 'Pods deleted because of a NoExecute taint',
    }),
    latency: defineHistogram(metrics, {
      name: 'taint_eviction_controller_pod_deletion_duration_seconds',
      help: 'Seconds between the moment a pod had to go because of a taint and its deletion',
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240],
    }),
  };
}
