import { formatTime, isEqualJson, type Cached, type HorizontalPodAutoscalerStatus } from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { withCondition, withoutCondition, type Condition } from './conditions.ts';
import { addScaleEvent, type History } from './history.ts';
import { longestPeriodSeconds } from './limits.ts';
import { behaviorOf } from './normalize.ts';
import type { Failure, Snapshot, SyncPlan } from './plan.ts';
import { minReplicasOf } from './settings.ts';
import { hasMetricWithoutPods } from './start.ts';

export type Status = Cached<HorizontalPodAutoscalerStatus>;
export type Action = 'scale_up' | 'scale_down' | 'none';

/** What follows from a plan once its write to the scale has succeeded, failed or not been needed. */
export interface Outcome {
  /** Before the write of the status. */
  readonly events: readonly NewEvent[];
  readonly status: Status;
  /** After it. */
  readonly lateEvents: readonly NewEvent[];
  readonly history: History | undefined;
  readonly action: Action;
  /** Undefined if the sync did not get that far. */
  readonly desiredReplicas: number | undefined;
  readonly failure: Failure | undefined;
}

/** `scaleError` is the message of a failed write to the scale. */
export function concludeSync(plan: SyncPlan, snapshot: Snapshot, scaleError: string | undefined): Outcome {
  const { decision, currentReplicas, conditions, history } = plan;
  const base = { events: [], lateEvents: [], history, action: 'none', desiredReplicas: undefined } as const;
  const old = snapshot.autoscaler.status;
  if (currentReplicas === undefined) {
    const status = { desiredReplicas: 0, ...old, conditions };
    return { ...base, status, failure: decision.kind === 'failed' ? decision.failure : undefined };
  }
  const desired = old?.desiredReplicas ?? 0;
  switch (decision.kind) {
    case 'failed': {
      const lateEvents = decision.event === undefined ? [] : [decision.event];
      const status = statusOf(plan, snapshot, { desiredReplicas: desired, conditions });
      return { ...base, lateEvents, status, failure: decision.failure };
    }
    case 'rescale':
      return scaleError === undefined
        ? concludeRescale(plan, snapshot, { currentReplicas, ...decision })
        : concludeFailedRescale(plan, snapshot, { ...decision, error: scaleError });
    case 'stay': {
      const status = statusOf(plan, snapshot, { desiredReplicas: currentReplicas, conditions });
      return { ...base, status, desiredReplicas: currentReplicas, failure: partialFailureOf(plan) };
    }
  }
}

interface Rescale {
  readonly currentReplicas: number;
  readonly replicas: number;
  readonly reason: string;
}

function concludeRescale(plan: SyncPlan, snapshot: Snapshot, rescale: Rescale): Outcome {
  const { currentReplicas, replicas, reason } = rescale;
  const { nowMs } = snapshot;
  const message = `the HPA controller was able to update the target scale to ${replicas}`;
  const able = { type: 'AbleToScale', status: 'True', reason: 'SucceededRescale', message };
  const conditions = withZeroCondition(withCondition(plan.conditions, able, nowMs), snapshot, rescale);
  const status = statusOf(plan, snapshot, { desiredReplicas: replicas, conditions, lastScaleTime: formatTime(nowMs) });
  return {
    events: [{ type: 'Normal', reason: 'SuccessfulRescale', message: `New size: ${replicas}; reason: ${reason}` }],
    status,
    lateEvents: [],
    history: historyAfter(plan.history, snapshot, rescale),
    action: replicas > currentReplicas ? 'scale_up' : 'scale_down',
    desiredReplicas: replicas,
    failure: partialFailureOf(plan),
  };
}

function concludeFailedRescale(
  plan: SyncPlan,
  snapshot: Snapshot,
  { replicas, reason, error }: Pick<Rescale, 'replicas' | 'reason'> & { readonly error: string },
): Outcome {
  const { autoscaler, nowMs } = snapshot;
  const message = `the HPA controller was unable to update the target scale: ${error}`;
  const failed = { type: 'AbleToScale', status: 'False', reason: 'FailedUpdateScale', message };
  const conditions = withCondition(plan.conditions, failed, nowMs);
  const { kind, name } = autoscaler.spec.scaleTargetRef;
  const reference = `${kind}/${autoscaler.metadata.namespace}/${name}`;
  const text = `New size: ${replicas}; reason: ${reason}; error: ${error}`;
  return {
    events: [{ type: 'Warning', reason: 'FailedRescale', message: text }],
    status: statusOf(plan, snapshot, { desiredReplicas: autoscaler.status?.desiredReplicas ?? 0, conditions }),
    lateEvents: [],
    history: plan.history,
    action: 'none',
    desiredReplicas: undefined,
    failure: { message: `failed to rescale ${reference}: ${error}`, isSpec: false },
  };
}

function withZeroCondition(
  conditions: readonly Condition[],
  { autoscaler, settings, nowMs }: Snapshot,
  { currentReplicas, replicas }: Rescale,
): readonly Condition[] {
  const type = 'ScaledToZero';
  if (!settings.scaleToZero) return withoutCondition(conditions, type);
  const isToZero = currentReplicas > 0 && replicas === 0 && minReplicasOf(autoscaler) === 0;
  const wanted =
    isToZero && hasMetricWithoutPods(autoscaler)
      ? { status: 'True', reason: 'ScaledToZero', message: 'the HPA controller scaled the workload to zero' }
      : {
          status: 'False',
          reason: 'NotScaledToZero',
          message: 'the HPA controller did not scale the workload to zero',
        };
  return withCondition(conditions, { type, ...wanted }, nowMs);
}

/** Only policies of a `behavior` count past changes. */
function historyAfter(
  history: History | undefined,
  { autoscaler, monotonicMs }: Snapshot,
  { currentReplicas, replicas }: Rescale,
): History | undefined {
  const behavior = behaviorOf(autoscaler);
  if (behavior === undefined || history === undefined) return history;
  if (replicas > currentReplicas) {
    const period = longestPeriodSeconds(behavior.scaleUp);
    const scaleUps = addScaleEvent(history.scaleUps, replicas - currentReplicas, period, monotonicMs);
    return { ...history, scaleUps };
  }
  const period = longestPeriodSeconds(behavior.scaleDown);
  const scaleDowns = addScaleEvent(history.scaleDowns, currentReplicas - replicas, period, monotonicMs);
  return { ...history, scaleDowns };
}

function partialFailureOf({ partialFailure }: SyncPlan): Failure | undefined {
  return partialFailure === undefined ? undefined : { message: partialFailure, isSpec: false };
}

function statusOf(
  { currentReplicas, metricStatuses }: SyncPlan,
  { autoscaler }: Snapshot,
  changed: Pick<Status, 'desiredReplicas' | 'conditions' | 'lastScaleTime'>,
): Status {
  const { lastScaleTime } = autoscaler.status ?? {};
  return { lastScaleTime, ...changed, currentReplicas, currentMetrics: metricStatuses };
}

/** Whether a status need not be written. The server omits some zero values, and writes null for others. */
export function isSameStatus(old: Status | undefined, next: Status): boolean {
  const complete = (status: Status | undefined): unknown => ({
    ...status,
    currentReplicas: status?.currentReplicas ?? 0,
    desiredReplicas: status?.desiredReplicas ?? 0,
  });
  return isEqualJson(complete(old), complete(next), { emptyIsAbsent: true });
}
