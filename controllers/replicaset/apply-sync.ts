import { isBeingDeleted, keyOf, Pods, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import { decided, type PendingWrites, type ReconcileResult, type StatusPace } from '../../pkg/controller/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { applyScaling, applyStatus, type ApplyDeps, type ScalingFailure } from './apply.ts';
import type { ReplicaMetrics } from './metrics.ts';
import type { Replicated } from './replica-kinds.ts';
import { planScaling } from './scaling.ts';
import {
  computeStatus,
  differsInTerminatingOnly,
  isStatusCurrent,
  nextStatusChangeMs,
  type StatusInput,
} from './status.ts';

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
  readonly statusPace: StatusPace;
  readonly honourDeletionCost: boolean;
}

/** Creates or deletes pods, or writes the status. A failure to create or delete is part of the status. */
export async function syncReplicas<T extends Replicated>(
  snapshot: Snapshot<T>,
  deps: SyncDeps<T>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { owner, activePods, terminating } = snapshot;
  const { metadata } = owner as Cached<Replicated>;
  const { scaled, failure } = isBeingDeleted(metadata) ? notScaled : await scale(snapshot, deps, signal);
  const input = { owner, activePods, terminating, failure: failure?.message, nowMs: deps.clock.now() };
  const waitMs = await writeStatus(owner, { ...input, scaled }, deps, signal);
  if (failure !== undefined) throw failure.error;
  return { requeueAfterMs: waitMs ?? nextStatusChangeMs(input) };
}

/** Drops the state of a deleted owner. */
export function forgetOwner<T extends Replicated>(
  key: ObjectKey,
  { statusPace, inTerminatingNamespace }: SyncDeps<T>,
): void {
  statusPace.forget(key);
  inTerminatingNamespace.delete(key);
}

interface Scaling {
  /** Pods were created or deleted. */
  readonly scaled: boolean;
  readonly failure?: ScalingFailure | undefined;
}

const notScaled: Scaling = { scaled: false };

async function scale<T extends Replicated>(
  { owner, activePods, relatedPods }: Snapshot<T>,
  deps: SyncDeps<T>,
  signal: AbortSignal,
): Promise<Scaling> {
  const { metadata, spec } = owner as Cached<Replicated>;
  const { honourDeletionCost, inTerminatingNamespace, metrics } = deps;
  const nowMs = deps.clock.now();
  const plan = decided(
    planScaling({ desired: spec.replicas ?? 1, activePods, relatedPods, nowMs, honourDeletionCost }),
    Pods,
  );
  if (plan.kind === 'delete' && plan.pods.length < activePods.length) metrics.chose(plan.pods, activePods, nowMs);
  const isBarred = (): boolean => plan.kind === 'create' && inTerminatingNamespace.get(keyOf(owner)) === metadata.uid;
  if (plan.kind === 'none' || isBarred()) return notScaled;
  const failure = await applyScaling(plan, owner, deps, signal);
  return { scaled: !isBarred(), failure };
}

/** Writes the status if it has changed. If the last write was too recent, returns the time to wait instead. */
async function writeStatus<T extends Replicated>(
  owner: Cached<T>,
  input: StatusInput & { readonly scaled: boolean },
  { control, pendingStatus, statusPace }: SyncDeps<T>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const key = keyOf(owner);
  const status = computeStatus(input);
  const isCurrent = isStatusCurrent(input.owner, status);
  const mayWait = input.failure === undefined;
  const expectsMore = input.scaled || differsInTerminatingOnly(input.owner, status);
  const waitMs = mayWait ? statusPace.waitMs(key, { expectsMore, isCurrent }) : 0;
  if (isCurrent) return undefined;
  if (waitMs > 0) return waitMs;
  const resourceVersion = await applyStatus(control, owner, status, signal);
  if (resourceVersion !== undefined) pendingStatus.wrote(key, resourceVersion);
  statusPace.wrote(key);
  return undefined;
}
