import { isBeingDeleted, keyOf, type Cached, type Pod } from '../../pkg/api/index.ts';
import type { Pace, PendingWrites, ReconcileResult } from '../../pkg/controller/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { applyScaling, applyStatus, type ApplyDeps, type ScalingFailure } from './apply.ts';
import { statusIntervalMs } from './intervals.ts';
import type { ReplicaMetrics } from './metrics.ts';
import type { Replicated } from './replica-kinds.ts';
import { planScaling } from './scaling.ts';
import { computeStatus, isStatusCurrent, nextStatusChangeMs, type StatusInput } from './status.ts';

export interface Snapshot<T extends Replicated> {
  readonly owner: Cached<T>;
  readonly activePods: readonly Cached<Pod>[];
  /** Pods of all owners with the same controller. Empty unless pods must be deleted. */
  readonly relatedPods: readonly Cached<Pod>[];
  /** The number of terminating pods; undefined if the kind or the gates do not count them. */
  readonly terminating: number | undefined;
}

export interface SyncDeps<T extends Replicated> extends ApplyDeps<T> {
  readonly clock: Pick<Clock, 'now'>;
  readonly metrics: ReplicaMetrics;
  readonly pendingStatus: PendingWrites<T>;
  readonly statusPace: Pace;
  readonly honourDeletionCost: boolean;
}

/** Creates or deletes pods, then writes the status, also after a failure. */
export async function syncReplicas<T extends Replicated>(
  snapshot: Snapshot<T>,
  deps: SyncDeps<T>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { owner, activePods, terminating } = snapshot;
  const { metadata } = owner as Cached<Replicated>;
  const failure = isBeingDeleted(metadata) ? undefined : await scale(snapshot, deps, signal);
  const input = { owner, activePods, terminating, failure: failure?.message, nowMs: deps.clock.now() };
  const waitMs = await writeStatus(owner, input, deps, signal);
  if (failure !== undefined) throw failure.error;
  return { requeueAfterMs: waitMs ?? nextStatusChangeMs(input) };
}

async function scale<T extends Replicated>(
  { owner, activePods, relatedPods }: Snapshot<T>,
  deps: SyncDeps<T>,
  signal: AbortSignal,
): Promise<ScalingFailure | undefined> {
  const { metadata, spec } = owner as Cached<Replicated>;
  const { honourDeletionCost, inTerminatingNamespace, metrics } = deps;
  const nowMs = deps.clock.now();
  const plan = planScaling({ desired: spec.replicas ?? 1, activePods, relatedPods, nowMs, honourDeletionCost });
  if (plan.kind === 'delete' && plan.pods.length < activePods.length) metrics.chose(plan.pods, activePods, nowMs);
  if (plan.kind === 'create' && inTerminatingNamespace.get(keyOf(owner)) === metadata.uid) return undefined;
  return applyScaling(plan, owner, deps, signal);
}

/** Writes the status if it has changed. If the last write was too recent, returns the time to wait instead. */
async function writeStatus<T extends Replicated>(
  owner: Cached<T>,
  input: StatusInput,
  { control, pendingStatus, statusPace }: SyncDeps<T>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const key = keyOf(owner);
  const { metadata, status: current } = input.owner;
  const status = computeStatus(input);
  if (isStatusCurrent(input.owner, status)) return undefined;
  const mayWait = metadata.generation === current?.observedGeneration && input.failure === undefined;
  const waitMs = mayWait ? statusPace.waitMs(key, statusIntervalMs) : 0;
  if (waitMs > 0) return waitMs;
  const resourceVersion = await applyStatus(control, owner, status, signal);
  if (resourceVersion !== undefined) pendingStatus.wrote(key, resourceVersion);
  statusPace.ran(key);
  return undefined;
}
