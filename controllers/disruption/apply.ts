import {
  keyOf,
  metadataOf,
  PodDisruptionBudgets,
  Pods,
  type Cached,
  type Pod,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isConflict, isNotFound, serverMessage, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { BudgetPlan } from './plan.ts';
import { withoutTarget } from './stale-target.ts';
import { changedFailureStatus } from './status.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly clock: Pick<Clock, 'now'>;
  readonly recorder: EventRecorder;
  readonly pending: PendingWrites<PodDisruptionBudget>;
}

export interface TargetDeps extends Pick<ApplyDeps, 'client' | 'clock'> {
  readonly pending: PendingWrites<Pod>;
}

/**
 * Records the events and writes the status. Throws the plan's failure after that, so that the sync is tried again, unless
 * it would fail again: budgets over pods of Jobs would send requests for as long as they exist.
 */
export async function applyBudget(
  { events, podEvents, status, failure }: BudgetPlan,
  budget: Cached<PodDisruptionBudget>,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const event of events) deps.recorder.event(PodDisruptionBudgets, budget, event);
  for (const { pod, event } of podEvents) deps.recorder.event(Pods, pod, event);
  if (failure === undefined) await applyOrAllowNone(budget, status, deps, signal);
  else {
    await applyStatus(budget, status, deps, signal);
    if (!failure.isLasting) throw failure.error;
  }
}

/** If the write fails, tries to at least allow no disruption: the API server evicts by the stored numbers. */
async function applyOrAllowNone(
  budget: Cached<PodDisruptionBudget>,
  status: PodDisruptionBudgetStatus | undefined,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    await applyStatus(budget, status, deps, signal);
  } catch (error) {
    if (!isConflict(error) && !signal.aborted) {
      const failed = changedFailureStatus(budget, serverMessage(error), deps.clock.now());
      await applyStatus(budget, failed, deps, signal);
    }
    throw error;
  }
}

/** Writes with the resource version that was read: a concurrent eviction has changed the status. */
async function applyStatus(
  budget: Cached<PodDisruptionBudget>,
  status: PodDisruptionBudgetStatus | undefined,
  { client, pending }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  if (status === undefined) return;
  const updated = { ...budget, status } as unknown as Unsaved<PodDisruptionBudget>;
  try {
    const { metadata } = await client.updateStatus(metadataOf(PodDisruptionBudgets), updated, signal);
    pending.wrote(keyOf(budget), metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Sets the pod's stale DisruptionTarget condition to False. */
export async function applyTargetCleared(
  pod: Cached<Pod>,
  { client, clock, pending }: TargetDeps,
  signal: AbortSignal,
): Promise<void> {
  const updated = { ...pod, status: withoutTarget(pod, clock.now()) } as unknown as Unsaved<Pod>;
  try {
    const { metadata } = await client.updateStatus(metadataOf(Pods), updated, signal);
    pending.wrote(keyOf(pod), metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
