import { keyOf, Leases, Nodes, Pods, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import {
  enqueueSelf,
  podsByNode,
  runAll,
  runPeriodically,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { syncNode, syncPod } from './apply.ts';
import type { HealthOptions } from './health.ts';
import { defineNodeMetrics } from './metrics.ts';
import { leaseNamespace, Monitor } from './monitor.ts';
import { createNodeObserver } from './node-observer.ts';
import { WrittenNodes } from './written-nodes.ts';
import type { ZoneOptions } from './zones.ts';

const name = 'node-lifecycle-controller';
const component = 'node-controller';
/** How often each zone may taint its next node, as far as its rate allows. */
const taintPeriodMs = 100;
const nodeWorkers = 8;
const podWorkers = 4;

export interface NodeLifecycleOptions {
  readonly monitorPeriodMs: number;
  readonly health: HealthOptions;
  readonly zones: ZoneOptions;
}

export function createNodeLifecycleController(context: ControllerContext, options: NodeLifecycleOptions): Controller {
  const { clock, logger } = context;
  const client = context.clientFor(component);
  const recorder = context.recorderFor(component);
  const nodeQueue = context.queueFor('node_lifecycle_controller');
  const podQueue = context.queueFor('node_lifecycle_controller_pods');
  const nodes = context.informers.informerFor(Nodes);
  const pods = context.informers.informerFor(Pods);
  const leases = context.informers.informerFor(Leases, { fieldSelector: `metadata.namespace=${leaseNamespace}` });
  const written = new WrittenNodes();
  const metrics = defineNodeMetrics(context.metrics);
  pods.addIndex(podsByNode);
  const observer = createNodeObserver(recorder, (nodeName) => {
    for (const pod of pods.store.byIndex(podsByNode, nodeName)) podQueue.add(keyOf(pod));
  });
  const stores = { nodes: nodes.store, leases: leases.store };
  const { health, zones, monitorPeriodMs } = options;
  const monitor = new Monitor({ client, clock, logger, metrics, ...stores, written, health, zones, observer });

  const isNodeNotReady = ({ spec: { nodeName = '' } }: Cached<Pod>): boolean => {
    const ready = monitor.readinessOf(nodeName);
    return ready !== undefined && ready !== 'True';
  };
  // When a node becomes unreachable later, the monitor enqueues its pods.
  const enqueueIfNotReady = (pod: Cached<Pod>): void => {
    if (isNodeNotReady(pod)) podQueue.add(keyOf(pod));
  };
  const handlers = [
    nodes.addHandler({ ...enqueueSelf(nodeQueue), deleted: ({ metadata }) => monitor.nodeDeleted(metadata.name) }),
    pods.addHandler({
      added: enqueueIfNotReady,
      updated(before, after) {
        if (before.spec.nodeName !== after.spec.nodeName) enqueueIfNotReady(after);
      },
    }),
  ];

  async function reconcileNode(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const node = nodes.store.get(key);
    if (node !== undefined) await syncNode(node, { client, clock, written }, signal);
    return {};
  }

  async function reconcilePod(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const pod = pods.store.get(key);
    if (pod !== undefined && isNodeNotReady(pod)) await syncPod(pod, { client, clock, recorder }, signal);
    return {};
  }

  const caches = [nodes, pods, leases, ...handlers];
  const work = { name, context, caches };
  const nodeWork = { ...work, queue: nodeQueue, reconcile: reconcileNode, workers: nodeWorkers };
  const podWork = { ...work, queue: podQueue, reconcile: reconcilePod, workers: podWorkers };
  const monitoring = { clock, logger, caches, periodMs: monitorPeriodMs };
  const tainting = { clock, logger, caches, periodMs: taintPeriodMs };
  const loops = [
    (signal: AbortSignal) => runWorkers(nodeWork, signal),
    (signal: AbortSignal) => runWorkers(podWork, signal),
    (signal: AbortSignal) => runPeriodically(monitoring, (inner) => monitor.checkNodes(inner), signal),
    (signal: AbortSignal) => runPeriodically(tainting, (inner) => monitor.taintNext(inner), signal),
  ];
  return { name, run: (signal) => runAll(loops, signal) };
}
