import {
  compileSelector,
  Deployments,
  isEmptySelector,
  keyOf,
  Pods,
  ReplicaSets,
  type Cached,
  type Deployment,
  type KubeObject,
  type ObjectKey,
  type Pod,
  type ReplicaSet,
} from '../../pkg/api/index.ts';
import {
  applyClaims,
  byController,
  controllerKeyOf,
  defineSelectorIndex,
  enqueueOwnerOrAdopters,
  enqueueSelf,
  isPodFinished,
  orphansByLabel,
  orphansWith,
  PendingWrites,
  planClaims,
  runWorkers,
  selectorOrNone,
  usableSelector,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { applyActions } from './apply.ts';
import type { Snapshot } from './plan.ts';
import { planSync } from './sync.ts';

const name = 'deployment-controller';

/** Long enough for a healthy watch to bring our own writes, short enough that a missed event costs little. */
const recheckPendingMs = 1000;

const deploymentsBySelector = defineSelectorIndex<Deployment>(
  'selector',
  ({ spec }) => spec.selector.matchLabels ?? {},
);

export function createDeploymentController(context: ControllerContext, workers: number): Controller {
  const client = context.clientFor(name);
  const recorder = context.recorderFor(name);
  const queue = context.queueFor('deployment');
  const deployments = context.informers.informerFor(Deployments);
  const replicaSets = context.informers.informerFor(ReplicaSets);
  const pods = context.informers.informerFor(Pods);
  const pendingSets = new PendingWrites<ReplicaSet>(replicaSets.store, context.clock);
  const pendingDeployments = new PendingWrites<Deployment>(deployments.store, context.clock);
  const countTerminating = context.gates.isEnabled('DeploymentReplicaSetTerminatingReplicas');

  replicaSets.addIndex(byController);
  replicaSets.addIndex(orphansByLabel);
  pods.addIndex(byController);
  deployments.addIndex(deploymentsBySelector.index);
  deployments.addHandler(enqueueSelf(queue));
  const whoMayAdopt = (set: Cached<ReplicaSet>): Iterable<ObjectKey> =>
    deploymentsBySelector
      .candidates(deployments.store, set)
      .filter((deployment) => selectorOrNone(() => compileSelector(deployment.spec.selector))(set.metadata.labels))
      .map(keyOf);
  const setHandlers = replicaSets.addHandler(enqueueOwnerOrAdopters<ReplicaSet>(queue, Deployments, whoMayAdopt));
  const podHandlers = pods.addHandler({ deleted: enqueueRecreated });

  /** A Recreate rollout waits for the last old pod, whose going changes nothing else that the Deployment would hear of. */
  function enqueueRecreated(pod: Cached<Pod>): void {
    const setKey = controllerKeyOf(pod, ReplicaSets);
    const set = setKey === undefined ? undefined : replicaSets.store.get(setKey);
    const key = set === undefined ? undefined : controllerKeyOf(set, Deployments);
    if (key === undefined || deployments.store.get(key)?.spec.strategy?.type !== 'Recreate') return;
    queue.add(key);
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const deployment = deployments.store.get(key);
    if (deployment === undefined) {
      pendingSets.forget(key);
      pendingDeployments.forget(key);
      return {}; // gone: the garbage collector takes what it owned
    }
    if (!pendingSets.isSettled(key) || !pendingDeployments.isSettled(key)) return { requeueAfterMs: recheckPendingMs };
    const snapshot: Snapshot = {
      deployment,
      // One that selects everything gets a warning; it must not adopt everything first.
      replicaSets: isEmptySelector(deployment.spec.selector) ? [] : await claimReplicaSets(deployment, signal),
      hasUnfinishedPods: (set) => podsOf(set).some((pod) => !isPodFinished(pod)),
      countTerminating,
      nowMs: context.clock.now(),
    };
    const { actions, result } = planSync(snapshot);
    const deps = { client, recorder, pendingSets, pendingDeployments };
    const isDone = await applyActions(actions, snapshot, deps, signal);
    return isDone ? result : { requeueAfterMs: recheckPendingMs };
  }

  function podsOf(set: Cached<ReplicaSet>): readonly Cached<Pod>[] {
    return pods.store.byIndex(byController, set.metadata.uid);
  }

  async function claimReplicaSets(
    deployment: Cached<Deployment>,
    signal: AbortSignal,
  ): Promise<readonly Cached<ReplicaSet>[]> {
    const { uid, namespace } = deployment.metadata;
    const candidates: readonly Cached<ReplicaSet>[] = [
      ...replicaSets.store.byIndex(byController, uid),
      ...orphansWith<ReplicaSet>(replicaSets.store, namespace, deployment.spec.selector.matchLabels ?? {}),
    ];
    const isSelected = usableSelector(Deployments, deployment, () => compileSelector(deployment.spec.selector));
    const claims = planClaims<ReplicaSet>(deployment, isSelected, candidates);
    const onWritten = ({ metadata }: KubeObject): void =>
      pendingSets.wrote(keyOf(deployment), metadata.resourceVersion);
    const options = { client, ownerKind: Deployments, owner: deployment, kind: ReplicaSets, onWritten };
    return applyClaims<ReplicaSet>(claims, options, signal);
  }

  const caches = [deployments, replicaSets, pods, setHandlers, podHandlers];
  const work = { name, context, queue, reconcile, caches, workers };
  return { name, run: (signal) => runWorkers(work, signal) };
}
