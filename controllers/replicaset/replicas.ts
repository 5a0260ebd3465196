import {
  controllerOf,
  keyOf,
  Pods,
  type Cached,
  type KubeObject,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import {
  applyClaims,
  byController,
  defineSelectorIndex,
  enqueueOwnerOrAdopters,
  enqueueSelf,
  isPodActive,
  isPodTerminating,
  orphansByLabel,
  orphansWith,
  PendingWrites,
  planClaims,
  runWorkers,
  selectorOrNone,
  usableSelector,
  type Controller,
  type ControllerContext,
  type PodControl,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import type { Store } from '../../informers/index.ts';
import { applyScaling, applyStatus, type ScalingFailure } from './apply.ts';
import { createReplicaMetrics } from './metrics.ts';
import type { ReplicaKind, Replicated } from './replica-kinds.ts';
import { Pace, reconcileIntervalMs, statusIntervalMs } from './pace.ts';
import { planScaling } from './scaling.ts';
import { computeStatus, isStatusCurrent, nextStatusChangeMs, type StatusInput } from './status.ts';

/** Long enough for a healthy watch to bring our own writes, short enough that a missed event costs little. */
const recheckPendingMs = 1000;

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
  const pending = new PendingWrites<Pod>(pods.store, context.clock);
  const pendingStatus = new PendingWrites<T>(owners.store, context.clock);
  const reconcilePace = new Pace(context.clock);
  const statusPace = new Pace(context.clock);
  const doomed = new Set<string>();
  const metrics = createReplicaMetrics(context.metrics);
  const ownersBySelector = defineSelectorIndex<T>('selector', (owner) => replicaKind.requiredLabelsOf(owner));
  const honourDeletionCost = context.gates.isEnabled('PodDeletionCost');
  const countsTerminating =
    replicaKind.countsTerminating && context.gates.isEnabled('DeploymentReplicaSetTerminatingReplicas');

  pods.addIndex(byController);
  pods.addIndex(orphansByLabel);
  owners.addIndex(byController);
  owners.addIndex(ownersBySelector.index);
  owners.addHandler(enqueueSelf(queue));
  owners.addHandler({ deleted: ({ metadata }) => void doomed.delete(metadata.uid) });
  const ownersOfOrphan = (pod: Cached<Pod>): Iterable<ObjectKey> =>
    ownersBySelector
      .candidates(owners.store, pod)
      .filter((owner) => selectorOrNone(() => replicaKind.selectorOf(owner))(pod.metadata.labels))
      .map(keyOf);
  const podHandlers = pods.addHandler(enqueueOwnerOrAdopters<Pod>(queue, kind, ownersOfOrphan));

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const owner = owners.store.get(key);
    if (owner === undefined) {
      pending.forget(key);
      pendingStatus.forget(key);
      reconcilePace.forget(key);
      statusPace.forget(key);
      return {};
    }
    const unseen = !pending.isSettled(key) ? Pods : !pendingStatus.isSettled(key) ? kind : undefined;
    if (unseen !== undefined) {
      if (replicaKind.countsSkips) metrics.waitedFor(unseen);
      return { requeueAfterMs: recheckPendingMs };
    }
    const own: readonly Cached<Pod>[] = podsOf(pods.store, owner);
    const tooSoonMs = reconcilePace.waitMs(key, reconcileIntervalMs(own.length));
    if (tooSoonMs > 0) return { requeueAfterMs: tooSoonMs };
    const isSelected = usableSelector(kind, owner, () => replicaKind.selectorOf(owner));
    const terminating = countsTerminating
      ? own.filter((pod) => isPodTerminating(pod) && isSelected(pod.metadata.labels)).length
      : undefined;
    const { namespace } = owner.metadata;
    const orphans = orphansWith<Pod>(pods.store, namespace, replicaKind.requiredLabelsOf(owner));
    const claims = planClaims<Pod>(owner, isSelected, [...own, ...orphans].filter(isPodActive));
    const onWritten = ({ metadata }: KubeObject): void => pending.wrote(key, metadata.resourceVersion);
    const claimOptions = { client, ownerKind: kind, owner, kind: Pods, onWritten };
    const activePods = await applyClaims<Pod>(claims, claimOptions, signal);

    const failure = owner.metadata.deletionTimestamp === undefined ? await scale(owner, activePods, signal) : undefined;
    const status: StatusInput = {
      owner,
      activePods,
      terminating,
      failure: failure?.message,
      nowMs: context.clock.now(),
    };
    const waitMs = await writeStatus(key, owner, status, signal);
    reconcilePace.ran(key);
    if (failure !== undefined) throw failure.error;
    return { requeueAfterMs: waitMs ?? nextStatusChangeMs(status) };
  }

  function scale(
    owner: Cached<T>,
    activePods: readonly Cached<Pod>[],
    signal: AbortSignal,
  ): Promise<ScalingFailure | undefined> {
    const nowMs = context.clock.now();
    const plan = planScaling({
      desired: owner.spec.replicas ?? 1,
      activePods,
      relatedPods: () => relatedPods(owner),
      nowMs,
      honourDeletionCost,
    });
    if (plan.kind === 'delete' && plan.pods.length < activePods.length) metrics.chose(plan.pods, activePods, nowMs);
    if (plan.kind === 'create' && doomed.has(owner.metadata.uid)) return Promise.resolve(undefined);
    return applyScaling(plan, owner, { control, pending, doomed }, signal);
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

  /** The pods of every owner that shares this one's parent: a Deployment's old and new ReplicaSets. */
  function relatedPods(owner: Cached<T>): readonly Cached<Pod>[] {
    const parent = controllerOf(owner);
    const siblings = parent === undefined ? [owner] : owners.store.byIndex(byController, parent.uid);
    return siblings.flatMap((sibling) => podsOf(pods.store, sibling));
  }

  const caches = [owners, pods, podHandlers];
  const work = { name: controllerName, context, queue, reconcile, caches, workers };
  return { name: controllerName, run: (signal) => runWorkers(work, signal) };
}

function podsOf(store: Store<Pod>, owner: Cached<KubeObject>): readonly Cached<Pod>[] {
  return store.byIndex(byController, owner.metadata.uid);
}
