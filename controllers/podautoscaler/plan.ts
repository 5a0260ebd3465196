import type { Cached, Kind, MetricStatus, Scale } from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { withCondition, withoutCondition, type Condition, type NewCondition } from './conditions.ts';
import { evaluateMetric, type Evaluated } from './evaluate.ts';
import { startHistory, type History } from './history.ts';
import type { TimedReading } from './metric-reading.ts';
import { normalize } from './normalize.ts';
import { combineProposals } from './proposals.ts';
import type { Selection } from './selection.ts';
import { minReplicasOf, tolerancesOf, type Autoscaler, type Settings } from './settings.ts';
import { belowMinimum, decideStart, isScaledToZero } from './start.ts';

/** The scale of the target, or why it could not be read. */
export type TargetReading =
  | { readonly kind: 'found'; readonly resource: Kind; readonly scale: Cached<Scale> }
  | {
      readonly kind: 'failed';
      /** For the condition and the event. */
      readonly message: string;
      /** With what was attempted. */
      readonly error: string;
      readonly isSpec: boolean;
    };

export interface Snapshot {
  readonly autoscaler: Autoscaler;
  readonly target: TargetReading;
  /** Undefined if no metric is needed. */
  readonly selection: Selection | undefined;
  /** One for each metric of the spec, if the selection has pods. */
  readonly readings: readonly TimedReading[];
  readonly history: History | undefined;
  readonly settings: Settings;
  readonly nowMs: number;
  /** For durations. */
  readonly monotonicMs: number;
}

export interface Failure {
  readonly message: string;
  readonly isSpec: boolean;
}

export type Decision =
  | { readonly kind: 'stay' }
  | { readonly kind: 'rescale'; readonly replicas: number; readonly reason: string }
  /** Replicas cannot be computed. `event` follows the write of the status. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly event?: NewEvent | undefined };

export interface SyncPlan {
  /** Before any write. */
  readonly events: readonly NewEvent[];
  readonly conditions: readonly Condition[];
  readonly decision: Decision;
  /** Undefined: the target was not found, and the status keeps its numbers. */
  readonly currentReplicas: number | undefined;
  readonly metricStatuses: readonly Cached<MetricStatus>[];
  readonly evaluated: readonly Evaluated[];
  readonly history: History | undefined;
  /** Some metrics could not be used, but the others were. */
  readonly partialFailure?: string | undefined;
}

const foundScale: NewCondition = {
  type: 'AbleToScale',
  status: 'True',
  reason: 'SucceededGetScale',
  message: "the HPA controller was able to get the target's current scale",
};
const disabled: NewCondition = {
  type: 'ScalingActive',
  status: 'False',
  reason: 'ScalingDisabled',
  message: 'scaling is disabled since the replica count of the target is zero',
};

/** Decides how many replicas the target should have. */
export function planSync(snapshot: Snapshot): SyncPlan {
  const { autoscaler, target, settings, nowMs, monotonicMs } = snapshot;
  const known = autoscaler.status?.conditions ?? [];
  if (target.kind === 'failed') return planWithoutTarget(snapshot, target, known);
  const currentReplicas = target.scale.spec?.replicas ?? 0;
  const history = snapshot.history ?? startHistory(currentReplicas, monotonicMs);
  const conditions = withCondition(known, foundScale, nowMs);
  const common = { events: [], metricStatuses: [], evaluated: [], currentReplicas, history };
  const start = decideStart(autoscaler, currentReplicas, settings);
  switch (start.kind) {
    case 'disabled': {
      const changed = withCondition(conditions, disabled, nowMs);
      const shown = settings.scaleToZero ? changed : withoutCondition(changed, 'ScaledToZero');
      return { ...common, conditions: shown, decision: { kind: 'stay' } };
    }
    case 'bound':
      return { ...common, conditions, decision: { ...start, kind: 'rescale' } };
    case 'compute':
      return planByMetrics(snapshot, target.scale, { ...common, conditions });
  }
}

function planWithoutTarget(
  { history, nowMs }: Snapshot,
  { message: cause, error, isSpec }: Extract<TargetReading, { kind: 'failed' }>,
  known: readonly Condition[],
): SyncPlan {
  const reason = 'FailedGetScale';
  const message = `the HPA controller was unable to get the target's current scale: ${cause}`;
  return {
    events: [{ type: 'Warning', reason, message: cause }],
    conditions: withCondition(known, { type: 'AbleToScale', status: 'False', reason, message }, nowMs),
    decision: { kind: 'failed', failure: { message: error, isSpec } },
    currentReplicas: undefined,
    metricStatuses: [],
    evaluated: [],
    history,
  };
}

type Base = Pick<SyncPlan, 'conditions' | 'events' | 'metricStatuses' | 'evaluated'> & {
  readonly currentReplicas: number;
  readonly history: History;
};

function planByMetrics(snapshot: Snapshot, scale: Cached<Scale>, base: Base): SyncPlan {
  const { autoscaler, selection, settings, nowMs } = snapshot;
  const { currentReplicas } = base;
  if (selection?.kind !== 'selected') {
    const why = selection?.message ?? '';
    const conditions = selection ? withCondition(base.conditions, selection.condition, nowMs) : base.conditions;
    return {
      ...base,
      conditions,
      events: selection ? [selection.event] : [],
      decision: failedMetrics(autoscaler, why),
    };
  }
  const evaluated = evaluateAll(snapshot, scale, selection);
  const { replicas, metric, statuses, events, condition, failure } = combineProposals(evaluated, currentReplicas);
  const shown = { ...base, evaluated, events, metricStatuses: statuses };
  const conditions = withCondition(base.conditions, condition, nowMs);
  if (replicas === undefined) return { ...shown, conditions, decision: failedMetrics(autoscaler, failure ?? '') };

  const proposed = Math.max(0, replicas);
  const normalized = normalize({ ...snapshot, ...base, conditions, proposed });
  const minReplicas = minReplicasOf(autoscaler);
  const mustStart = currentReplicas === 0 && minReplicas !== 0 && isScaledToZero(autoscaler, settings);
  const isRaised = mustStart && normalized.replicas < minReplicas;
  const desired = isRaised ? minReplicas : normalized.replicas;
  const reason = reasonFor({ proposed, currentReplicas, metric });
  return {
    ...shown,
    conditions: normalized.conditions,
    history: normalized.history,
    partialFailure: failure,
    decision:
      desired === currentReplicas
        ? { kind: 'stay' }
        : { kind: 'rescale', replicas: desired, reason: isRaised && reason === '' ? belowMinimum : reason },
  };
}

function evaluateAll(
  { autoscaler, readings, settings, nowMs }: Snapshot,
  { spec, status }: Cached<Scale>,
  { pods }: Extract<Selection, { kind: 'selected' }>,
): readonly Evaluated[] {
  const common = {
    namespace: autoscaler.metadata.namespace ?? '',
    specReplicas: spec?.replicas ?? 0,
    statusReplicas: status?.replicas ?? 0,
    pods,
    tolerances: tolerancesOf(autoscaler, settings),
    readiness: { ...settings, nowMs },
    podLevelResources: settings.podLevelResources,
  };
  const missing = { kind: 'failed', message: 'the metric was not read' } as const;
  return (autoscaler.spec.metrics ?? []).map((metric, index) =>
    evaluateMetric(metric, readings[index]?.reading ?? missing, common),
  );
}

/** Why replicas change, in the event. Limits may still turn the change into another one. */
function reasonFor(given: {
  readonly proposed: number;
  readonly currentReplicas: number;
  readonly metric: string;
}): string {
  const { proposed, currentReplicas, metric } = given;
  if (proposed > currentReplicas) return `${metric} above target`;
  return proposed < currentReplicas ? 'All metrics below target' : '';
}

function failedMetrics({ metadata, spec }: Autoscaler, why: string): Decision {
  const { kind, name } = spec.scaleTargetRef;
  const reference = `${kind}/${metadata.namespace}/${name}`;
  const attempted = 'failed to compute desired number of replicas based on listed metrics';
  return {
    kind: 'failed',
    failure: { message: `${attempted} for ${reference}: ${why}`, isSpec: false },
    event: { type: 'Warning', reason: 'FailedComputeMetricsReplicas', message: why },
  };
}
