import { keyOf, Leases, Nodes, Pods, type Cached, type Node, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import {
  podsByNode,
  runAll,
  runPeriodically,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { changeNode, markPodNotReady } from './apply.ts';
import type { HealthOptions } from './health.ts';
import { planLabels } from './labels.ts';
import { defineNodeMetrics } from './metrics.ts';
import { leaseNamespace, Monitor } from './monitor.ts';
import { planConditionTaints } from './node-taints.ts';
import { OwnWrites } from './own-writes.ts';
import type { ZoneOptions } from './zones.ts';

const name = 'node-lifecycle-controller';
const component = 'node-controller';
/** How often zones are asked whether one of their nodes may be tainted. */
const taintingPeriodMs = 100;
const nodesAtOnce = 8;
const podsAtOnce = 4;

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
  const ownWrites = new OwnWrites();

  const tellOfNode = ({ metadata }: NodeSubject, reason: string, text: string): void => {
    const subject = { metadata: { name: metadata.name, uid: metadata.uid } };
    recorder.event(Nodes, subject, { type: 'Normal', reason, message: `Node ${metadata.name} ${text}` });
  };
  const monitor = new Monitor({
    client,
    clock,
    logger,
    ownWrites,
    metrics: defineNodeMetrics(context.metrics),
    nodes: nodes.store,
    leases: leases.store,
    health: options.health,
    zones: options.zones,
    told: {
      registered(node) {
        tellOfNode(node, 'RegisteredNode', `event: Registered Node ${node.metadata.name} in Controller`);
      },
      removed(nodeName, uid) {
        const text = `event: Removing Node ${nodeName} from Controller`;
        tellOfNode({ metadata: { name: nodeName, uid } }, 'RemovingNode', text);
      },
      silent(node, isNews) {
        if (isNews) tellOfNode(node, 'NodeNotReady', 'status is now: NodeNotReady');
        for (const pod of pods.store.byIndex(podsByNode, node.metadata.name)) podQueue.add(keyOf(pod));
      },
    },
  });

  const isUnready = ({ spec: { nodeName = '' } }: Cached<Pod>): boolean => {
    const ready = monitor.readinessOf(nodeName);
    return ready !== undefined && ready !== 'True';
  };

  pods.addIndex(podsByNode);
  const nodeHandlers = nodes.addHandler({
    added: (node) => nodeQueue.add(keyOf(node)),
    updated: (_before, after) => nodeQueue.add(keyOf(after)),
    deleted: ({ metadata }) => monitor.nodeDeleted(metadata.name),
  });
  // Of a node that turns silent later, the monitor brings the pods.
  const enqueueIfSilent = (pod: Cached<Pod>): void => {
    if (isUnready(pod)) podQueue.add(keyOf(pod));
  };
  const podHandlers = pods.addHandler({
    added: enqueueIfSilent,
    updated(before, after) {
      if (before.spec.nodeName !== after.spec.nodeName) enqueueIfSilent(after);
    },
  });

  /** Keeps new pods off a node for what its conditions say, and its labels under both their names. */
  async function reconcileNode(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const cached = nodes.store.get(key);
    if (cached === undefined) return {};
    const plan = (node: Cached<Node>) => {
      const taints = planConditionTaints(node, clock.now());
      const labels = planLabels(node);
      return taints === undefined && labels === undefined ? undefined : { taints, labels };
    };
    const node = ownWrites.latest(cached);
    const written = await changeNode(client, node, plan, signal);
    if (written !== undefined && written !== node) ownWrites.wrote(written);
    return {};
  }

  async function reconcilePod(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const pod = pods.store.get(key);
    if (pod === undefined || !isUnready(pod)) return {};
    if (await markPodNotReady(client, pod, clock.now(), signal)) {
      recorder.event(Pods, pod, { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' });
    }
    return {};
  }

  const caches = [nodes, pods, leases, nodeHandlers, podHandlers];
  const nodeWork = { name, context, queue: nodeQueue, reconcile: reconcileNode, caches, workers: nodesAtOnce };
  const podWork = { name, context, queue: podQueue, reconcile: reconcilePod, caches, workers: podsAtOnce };
  const periodic = { clock, logger, caches };
  return {
    name,
    run: (signal) =>
      runAll(
        [
          (inner) => runWorkers(nodeWork, inner),
          (inner) => runWorkers(podWork, inner),
          (inner) => runPeriodically({ ...periodic, periodMs: options.monitorPeriodMs }, (s) => monitor.pass(s), inner),
          (inner) => runPeriodically({ ...periodic, periodMs: taintingPeriodMs }, (s) => monitor.taintNext(s), inner),
        ],
        signal,
      ),
  };
}

interface NodeSubject {
  readonly metadata: { readonly name: string; readonly uid: string };
}
