import {
  compileSelector,
  Deployments,
  isEmptySelector,
  Pods,
  ReplicaSets,
  type Cached,
  type Deployment,
  type ObjectKey,
  type Pod,
  type ReplicaSet,
} from '../../pkg/api/index.ts';
import {
  byController,
  controllerKeyOf,
  createClaims,
  decided,
  enqueueSelf,
  PendingWrites,
  runWorkers,
  StatusPace,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { isPodFinished } from '../../pkg/pods/index.ts';
import { applyActions } from './apply.ts';
import type { Snapshot } from './plan.ts';
import { paceStatus } from './status-pace.ts';
import { planSync } from './sync.ts';

const name = 'deployment-controller';

/** Requeue delay after a plan on a stale cache. The event that updates the cache usually comes sooner. */
const replanMs = 1000;

export function createDeploymentController(context: ControllerContext, workers: number): Controller {
  const client = context.clientFor(name);
  const recorder = context.recorderFor(name);
  const queue = context.queueFor('deployment');
  const deployments = context.informers.informerFor(Deployments);
  const replicaSets = context.informers.informerFor(ReplicaSets);
  const pods = context.informers.informerFor(Pods);
  const pendingSets = new PendingWrites<ReplicaSet>(replicaSets, context.clock);
  const pendingDeployments = new PendingWrites<Deployment>(deployments, context.clock);
  const statusPace = new StatusPace(context.clock);
  const countTerminating = context.gates.isEnabled('DeploymentReplicaSetTerminatingReplicas');

  const claims = createClaims<Deployment, ReplicaSet>({
    client,
    owners: deployments,
    dependents: replicaSets,
    selectorOf: ({ spec }) => compileSelector(spec.selector),
    requiredLabelsOf: ({ spec }) => spec.selector.matchLabels ?? {},
    written: pendingSets,
  });

  pods.addIndex(byController);
  deployments.addHandler(enqueueSelf(queue));
  const setHandlers = replicaSets.addHandler(claims.handler(queue));
  const podHandlers = pods.addHandler({ deleted: enqueueRecreated });

  /** A Recreate rollout waits until the last old pod is gone. Only the event of that pod shows it. */
  function enqueueRecreated(pod: Cached<Pod>): void {
    const setKey = controllerKeyOf(pod, ReplicaSets);
    const set = setKey === undefined ? undefined : replicaSets.store.get(setKey);
    const key = set === undefined ? undefined : controllerKeyOf(set, Deployments);
    if (key === undefined || deployments.store.get(key)?.spec.strategy?.type !== 'Recreate') return;
    queue.add(key);
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const deployment = deployments.store.get(key);
    if (deployment === undefined) return {}; // the garbage collector deletes its ReplicaSets
    // A Deployment that selects everything only gets a warning event. It must not adopt anything.
    const selectsAll = isEmptySelector(deployment.spec.selector);
    const owned = selectsAll ? [] : await claims.apply(claims.plan(deployment), deployment, signal);
    const isRecreate = deployment.spec.strategy?.type === 'Recreate';
    const unfinished = isRecreate ? owned.filter(hasUnfinishedPods) : [];
    const snapshot: Snapshot = {
      deployment,
      replicaSets: owned,
      setsWithUnfinishedPods: new Set(unfinished.map(({ metadata }) => metadata.uid)),
      countTerminating,
      nowMs: context.clock.now(),
    };
    const { actions, result } = decided(paceStatus(planSync(snapshot), { key, deployment, pace: statusPace }));
    const isDone = await applyActions(actions, snapshot, { client, recorder, pendingSets, pendingDeployments }, signal);
    return isDone ? result : { requeueAfterMs: replanMs };
  }

  const hasUnfinishedPods = ({ metadata }: Cached<ReplicaSet>): boolean =>
    pods.store.byIndex(byController, metadata.uid).some((pod) => !isPodFinished(pod));

  const caches = [deployments, replicaSets, pods, setHandlers, podHandlers];
  const forget = (key: ObjectKey): void => statusPace.forget(key);
  const care = { ownWrites: [pendingSets, pendingDeployments], primary: deployments.store, forget };
  const work = { name, context, queue, reconcile, caches, workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
