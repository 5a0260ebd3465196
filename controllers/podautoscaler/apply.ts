import {
  HorizontalPodAutoscalers,
  keyOf,
  metadataOf,
  objectKey,
  type Cached,
  type HorizontalPodAutoscaler,
  type ObjectKey,
  type Scale,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isConflict, isNotFound, serverMessage, type Client } from '../../pkg/client/index.ts';
import { asError, type PendingWrites } from '../../pkg/controller/index.ts';
import type { EventRecorder, NewEvent } from '../../pkg/events/index.ts';
import type { History } from './history.ts';
import type { AutoscalerMetrics } from './metrics.ts';
import { concludeSync, isSameStatus, type Outcome } from './outcome.ts';
import type { Snapshot, SyncPlan } from './plan.ts';
import type { Autoscaler } from './settings.ts';

/** A sync that could not do all that it should. Events and conditions of the autoscaler say so too. */
class AutoscalerError extends Error {
  override readonly name = 'AutoscalerError';
  readonly reason = 'AutoscalerFailed';
}

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly pending: PendingWrites<HorizontalPodAutoscaler>;
  readonly histories: Map<ObjectKey, History>;
  readonly metrics: AutoscalerMetrics;
  readonly elapsedMs: () => number;
}

/** As many as in Go. */
const maxAttempts = 5;

/** Scales the target and writes the status. Throws if the sync has failed, after that. */
export async function applySync(
  plan: SyncPlan,
  snapshot: Snapshot,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const { autoscaler } = snapshot;
  const record = (events: readonly NewEvent[]): void => {
    for (const event of events) deps.recorder.event(HorizontalPodAutoscalers, autoscaler, event);
  };
  deps.metrics.computed(plan.evaluated, snapshot.readings, autoscaler);
  record(plan.events);
  const scaleError = await applyScale(plan, snapshot, deps, signal);
  const outcome = concludeSync(plan, snapshot, scaleError && serverMessage(scaleError));
  if (outcome.history !== undefined) deps.histories.set(keyOf(autoscaler), outcome.history);
  record(outcome.events);
  const statusError = await applyStatus(autoscaler, outcome, deps, signal);
  if (statusError !== undefined) {
    record([{ type: 'Warning', reason: 'FailedUpdateStatus', message: serverMessage(statusError) }]);
  }
  record(outcome.lateEvents);
  const hasFailed = outcome.failure ?? (statusError && { isSpec: false, message: '' });
  deps.metrics.synced(autoscaler, { ...outcome, failure: hasFailed }, deps.elapsedMs());
  if (outcome.failure !== undefined) throw new AutoscalerError(outcome.failure.message, { cause: statusError });
  if (statusError !== undefined) throw statusError;
}

/** Returns the error of a write that failed. */
async function applyScale(
  { decision }: SyncPlan,
  { autoscaler, target }: Snapshot,
  { client }: Pick<ApplyDeps, 'client'>,
  signal: AbortSignal,
): Promise<Error | undefined> {
  if (decision.kind !== 'rescale' || target.kind !== 'found') return undefined;
  const { resource } = target;
  // Always in the namespace of the autoscaler: the client refuses such a key for a cluster-scoped kind.
  const key = objectKey(autoscaler.metadata.namespace, autoscaler.spec.scaleTargetRef.name);
  let scale: Cached<Scale> = target.scale;
  for (let attempts = 1; ; attempts += 1) {
    try {
      await client.updateScale(resource, key, withReplicas(scale, decision.replicas), signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!isConflict(error) || attempts >= maxAttempts) return asError(error);
      scale = await readAgain(() => client.getScale(resource, key, signal), scale);
    }
  }
}

function withReplicas(scale: Cached<Scale>, replicas: number): Scale {
  return { ...scale, spec: { ...scale.spec, replicas } } as Scale;
}

/** Somebody else has changed the target. If it cannot be read, the next attempt fails like this one. */
async function readAgain(read: () => Promise<Scale>, known: Cached<Scale>): Promise<Cached<Scale>> {
  try {
    return await read();
  } catch {
    return known; // the next attempt throws if the signal has aborted
  }
}

/** Returns the error of a write that failed. A deleted autoscaler needs no status. */
async function applyStatus(
  autoscaler: Autoscaler,
  { status }: Outcome,
  { client, pending }: ApplyDeps,
  signal: AbortSignal,
): Promise<Error | undefined> {
  if (isSameStatus(autoscaler.status, status)) return undefined;
  const updated = { ...autoscaler, status } as unknown as Unsaved<HorizontalPodAutoscaler>;
  try {
    const { metadata } = await client.updateStatus(metadataOf(HorizontalPodAutoscalers), updated, signal);
    pending.wrote(keyOf(autoscaler), metadata.resourceVersion);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return isNotFound(error) ? undefined : asError(error);
  }
}
