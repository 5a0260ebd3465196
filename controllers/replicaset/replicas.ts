import { controllerOf, Pods, isBeingDeleted, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import {
  byController,
  createClaims,
  enqueueSelf,
  Pace,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type PodControl,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { isPodActive, isPodTerminating } from '../../pkg/pods/index.ts';
import { applyScaling, applyStatus, type ScalingFailure } from './apply.ts';
import { createReplicaMetrics } from './metrics.ts';
import type { ReplicaKind, Replicated } from './replica-kinds.ts';
import { reconcileIntervalMs, statusIntervalMs } from './intervals.ts';
import { planScaling } from './scaling.ts';
import { computeStatus, isStatusCurrent, nextStatusChangeMs, type StatusInput } from './status.ts';

export function createReplicaController<T extends Replicated>(
  context: ControllerContext,
  replicaKind: ReplicaKind<T>,
  workers: number,
): Controller {
  const { kind, controllerName } = replicaKind;
  const client = context.clientFor(replicaKind.component);
  const queue = context.queueFor(replicaKind.queueName);
  const owners = context.informers.informerFor(kind);
  const pods = context.informers.informerFor(Pods);
  const control: PodControl<T> = { client, recorder: context.recorderFor(replicaKind.component), ownerKind: kind };
  const pending = new PendingWrites<Pod>(pods, context.clock);
  const pendingStatus = new PendingWrites<T>(owners, context.clock);
  const statusPace = new Pace(context.clock);
  const inTerminatingNamespace = new Set<string>();
  const metrics = createReplicaMetrics(context.metrics);
  const honourDeletionCost = context.gates.isEnabled('PodDeletionCost');
  const countsTerminating =
    replicaKind.countsTerminating && context.gates.isEnabled('DeploymentReplicaSetTerminatingReplicas');

  const claims = createClaims<T, Pod>({
    client,
    owners,
    dependents: pods,
    selectorOf: (owner) => replicaKind.selectorOf(owner),
    requiredLabelsOf: (owner) => replicaKind.requiredLabelsOf(owner),
    written: pending,
  });

  owners.addIndex(byController);
  owners.addHandler(enqueueSelf(queue));
  owners.addHandler({ deleted: ({ metadata }) => void inTerminatingNamespace.delete(metadata.uid) });
  const podHandlers = pods.addHandler(claims.handler(queue));

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const owner = owners.store.get(key);
    if (owner === undefined) return {};
    const isSelected = claims.selectorOf(owner);
    const terminating = countsTerminating
      ? claims.ownedBy(owner).filter((pod) => isPodTerminating(pod) && isSelected(pod.metadata.labels)).length
      : undefined;
    const activePods = await claims.apply(claims.plan(owner, isPodActive), owner, signal);

    const failure = !isBeingDeleted(owner.metadata) ? await scale(owner, activePods, signal) : undefined;
    const status: StatusInput = {
      owner,
      activePods,
      terminating,
      failure: failure?.message,
      nowMs: context.clock.now(),
    };
    const waitMs = await writeStatus(key, owner, status, signal);
    if (failure !== undefined) throw failure.error;
    return { requeueAfterMs: waitMs ?? nextStatusChangeMs(status) };
  }

  function scale(
    owner: Cached<T>,
    activePods: readonly Cached<Pod>[],
    signal: AbortSignal,
  ): Promise<ScalingFailure | undefined> {
    const nowMs = context.clock.now();
    const desired = owner.spec.replicas ?? 1;
    const related = activePods.length > desired ? relatedPods(owner) : []; // they only rank pods for deletion
    const plan = planScaling({ desired, activePods, relatedPods: related, nowMs, honourDeletionCost });
    if (plan.kind === 'delete' && plan.pods.length < activePods.length) metrics.chose(plan.pods, activePods, nowMs);
    if (plan.kind === 'create' && inTerminatingNamespace.has(owner.metadata.uid)) return Promise.resolve(undefined);
    return applyScaling(plan, owner, { control, pending, inTerminatingNamespace }, signal);
  }

  /** Writes the status if it has changed; gives the time to wait instead if the last write is too recent. */
  async function writeStatus(
    key: ObjectKey,
    owner: Cached<T>,
    input: StatusInput,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const status = computeStatus(input);
    if (isStatusCurrent(owner, status)) return undefined;
    const isSettling = owner.metadata.generation === owner.status?.observedGeneration && input.failure === undefined;
    const waitMs = isSettling ? statusPace.waitMs(key, statusIntervalMs) : 0;
    if (waitMs > 0) return waitMs;
    const resourceVersion = await applyStatus(replicaKind, owner, status, client, signal);
    if (resourceVersion !== undefined) pendingStatus.wrote(key, resourceVersion);
    statusPace.ran(key);
    return undefined;
  }

  function podCountOf(key: ObjectKey): number {
    const owner = owners.store.get(key);
    return owner === undefined ? 0 : claims.ownedBy(owner).length;
  }

  /** The pods of every owner that shares this one's parent: a Deployment's old and new ReplicaSets. */
  function relatedPods(owner: Cached<T>): readonly Cached<Pod>[] {
    const parent = controllerOf(owner);
    const siblings = parent === undefined ? [owner] : owners.store.byIndex(byController, parent.uid);
    return siblings.flatMap((sibling) => claims.ownedBy(sibling));
  }

  const caches = [owners, pods, podHandlers];
  const work = {
    name: controllerName,
    context,
    queue,
    reconcile,
    caches,
    workers,
    primary: owners.store,
    ownWrites: [pending, pendingStatus],
    onStale: replicaKind.countsSkips ? metrics.waitedFor : undefined,
    minIntervalMs: (key: ObjectKey) => reconcileIntervalMs(podCountOf(key)),
    forget: (key: ObjectKey) => statusPace.forget(key),
  };
  return { name: controllerName, run: (signal) => runWorkers(work, signal) };
}
