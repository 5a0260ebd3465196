import {
  isEmptySelector,
  isBeingDeleted,
  keyOf,
  type Cached,
  type ControllerRevision,
  type DaemonSet,
  type Node,
  type Pod,
} from '../../pkg/api/index.ts';
import { asError, decided, type Claims, type ReconcileResult, type StatusPace } from '../../pkg/controller/index.ts';
import type { Store } from '../../informers/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { applyHistory, applyRevisionDeletions, type HistoryDeps } from './apply-history.ts';
import { applyPods, applyStatus, type PodDeps } from './apply.ts';
import type { FailedPodBackoff } from './failed-pod-backoff.ts';
import { planHistory, selectSurplus } from './history.ts';
import { isRolledOut, isStatusCurrent, statusIntervalMsOf } from './status.ts';
import { planSync, soonest, type SyncPlan } from './sync.ts';

export interface SyncDeps extends PodDeps, HistoryDeps {
  readonly podClaims: Claims<DaemonSet, Pod>;
  readonly revisionClaims: Claims<DaemonSet, ControllerRevision>;
  readonly nodes: Pick<Store<Node>, 'list'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly backoff: FailedPodBackoff;
  readonly statusPace: StatusPace;
  readonly allowComparisons: boolean;
}

/** Syncs revisions, then pods, then the status. */
export async function syncDaemonSet(
  daemonSet: Cached<DaemonSet>,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  if (isEmptySelector(daemonSet.spec.selector)) {
    const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
    deps.control.recorder.event(deps.control.ownerKind, daemonSet, {
      type: 'Warning',
      reason: 'SelectingAll',
      message,
    });
    return {};
  }
  // The garbage collector deletes or orphans revisions and pods in any order: counts would mean nothing.
  if (isBeingDeleted(daemonSet.metadata)) return {};
  const { podClaims, revisionClaims } = deps;
  const revisions = await revisionClaims.apply(revisionClaims.plan(daemonSet), daemonSet, signal);
  const history = planHistory(daemonSet, revisions);
  const hash = await applyHistory(history, { daemonSet, pods: podClaims.ownedBy(daemonSet) }, deps, signal);
  if (hash === undefined) return {};
  const pods = await podClaims.apply(podClaims.plan(daemonSet), daemonSet, signal);
  const plan = decided(
    planSync({
      daemonSet,
      nodes: deps.nodes.list(),
      pods,
      hash,
      backoffMs: deps.backoff.waitsOf(daemonSet),
      nowMs: deps.clock.now(),
      allowComparisons: deps.allowComparisons,
    }),
  );
  for (const { phase, nodeName } of plan.ended) if (phase === 'Failed') deps.backoff.next(daemonSet, nodeName);
  const surplus = selectSurplus(daemonSet, history.old, pods);
  const error =
    (await applyPods(plan, daemonSet, deps, signal)) ?? (await deleteSurplus(surplus, daemonSet, deps, signal));
  const waitMs = await writeStatus(daemonSet, { ...plan, error }, deps, signal);
  if (error !== undefined) throw error;
  return { requeueAfterMs: soonest(waitMs, plan.requeueAfterMs) };
}

/** Returns the error instead of throwing it: the status is written in any case. */
async function deleteSurplus(
  revisions: readonly Cached<ControllerRevision>[],
  daemonSet: Cached<DaemonSet>,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<Error | undefined> {
  try {
    await applyRevisionDeletions(revisions, daemonSet, deps, signal);
    return undefined;
  } catch (error) {
    return asError(error);
  }
}

/**
 * Writes the status if it has changed. If the last write was too recent, returns the time to wait instead. The status of
 * a new generation, of a failed sync, and of a rollout that is complete is written at once.
 */
async function writeStatus(
  daemonSet: Cached<DaemonSet>,
  { changes, status, error }: SyncPlan & { readonly error: Error | undefined },
  { client, pendingStatus, statusPace }: SyncDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const key = keyOf(daemonSet);
  const isCurrent = isStatusCurrent(daemonSet, status);
  const isObserved = daemonSet.metadata.generation === daemonSet.status?.observedGeneration;
  const expectsMore = changes.create.length > 0 || changes.delete.length > 0;
  const intervalMs = statusIntervalMsOf(status.desiredNumberScheduled);
  const mayWait = error === undefined && isObserved && !isRolledOut(status);
  const waitMs = mayWait ? statusPace.waitMs(key, { expectsMore, isCurrent, intervalMs }) : 0;
  if (isCurrent) return undefined;
  if (waitMs > 0) return waitMs;
  const resourceVersion = await applyStatus(client, daemonSet, status, signal);
  if (resourceVersion !== undefined) pendingStatus.wrote(key, resourceVersion);
  statusPace.wrote(key);
  return undefined;
}
