import { ControllerRevisions, DaemonSets, Nodes, Pods, type ObjectKey } from '../../pkg/api/index.ts';
import {
  enqueueSelf,
  runAll,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { syncDaemonSet } from './apply-sync.ts';
import { createStaleSyncCounter } from './metrics.ts';
import { daemonPodsByNode, daemonSetsByNodeLabel, enqueueChangedNodes, selectConcerned } from './node-changes.ts';
import { createSyncDeps } from './sync-deps.ts';
import { syncIntervalMs } from './sync.ts';

const name = 'daemonset-controller';

/** Runs one pod of each DaemonSet on every node that it selects. */
export function createDaemonSetController(context: ControllerContext, workers: number): Controller {
  const queue = context.queueFor('daemonset');
  const nodeQueue = context.queueFor('daemonset-node-updates');
  const daemonSets = context.informers.informerFor(DaemonSets);
  const revisions = context.informers.informerFor(ControllerRevisions);
  const pods = context.informers.informerFor(Pods);
  const nodes = context.informers.informerFor(Nodes);
  const deps = createSyncDeps(context);
  const countStaleSync = createStaleSyncCounter(context.metrics);
  const awaitsStatus = context.gates.isEnabled('StaleControllerConsistencyDaemonSet');

  daemonSets.addIndex(daemonSetsByNodeLabel);
  pods.addIndex(daemonPodsByNode);
  const registrations = [
    daemonSets.addHandler(enqueueSelf(queue)),
    revisions.addHandler(deps.revisionClaims.handler(queue)),
    pods.addHandler(deps.podClaims.handler(queue)),
    nodes.addHandler(enqueueChangedNodes(nodeQueue)),
  ];

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const daemonSet = daemonSets.store.get(key);
    return daemonSet === undefined ? {} : syncDaemonSet(daemonSet, deps, signal);
  }

  async function reconcileNode(key: ObjectKey): Promise<ReconcileResult> {
    const change = { nodeName: key, node: nodes.store.get(key), pods: pods.store, daemonSets: daemonSets.store };
    for (const concerned of selectConcerned(change, deps)) queue.add(concerned);
    return {};
  }

  const care = {
    primary: daemonSets.store,
    ownWrites: [deps.pendingRevisions, deps.pendingPods, ...(awaitsStatus ? [deps.pendingStatus] : [])],
    onStale: awaitsStatus ? countStaleSync : undefined,
    minIntervalMs(key: ObjectKey): number {
      const daemonSet = daemonSets.store.get(key);
      return daemonSet === undefined ? 0 : syncIntervalMs(deps.podClaims.countOwnedBy(daemonSet));
    },
    forget(key: ObjectKey): void {
      deps.statusPace.forget(key);
      deps.backoff.forget(key);
      deps.inTerminatingNamespace.delete(key);
      deps.pendingStatus.forget(key);
    },
  };
  const work = { name, context, workers, caches: [daemonSets, revisions, pods, nodes, ...registrations] };
  const loops = [
    (signal: AbortSignal) => runWorkers({ ...work, ...care, queue, reconcile }, signal),
    (signal: AbortSignal) => runWorkers({ ...work, queue: nodeQueue, reconcile: reconcileNode }, signal),
  ];
  return { name, run: (signal) => runAll(loops, signal) };
}
