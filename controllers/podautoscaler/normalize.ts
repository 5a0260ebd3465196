import { withCondition, type Condition } from './conditions.ts';
import type { History } from './history.ts';
import { limitRate, limitReplicas, type Behavior } from './limits.ts';
import { minReplicasOf, type Autoscaler, type Settings } from './settings.ts';
import { stabilizeBoth, stabilizeDownscale, type Stabilized } from './stabilize.ts';

export interface NormalizeInput {
  readonly autoscaler: Autoscaler;
  readonly settings: Settings;
  readonly conditions: readonly Condition[];
  readonly history: History;
  readonly currentReplicas: number;
  /** What the metrics ask for. */
  readonly proposed: number;
  readonly nowMs: number;
  readonly monotonicMs: number;
}

export interface Normalized {
  readonly replicas: number;
  readonly conditions: readonly Condition[];
  readonly history: History;
}

/** Stabilizes the proposal, limits it, and says both in conditions. */
export function normalize(input: NormalizeInput): Normalized {
  const { proposed, nowMs } = input;
  const stabilized = stabilize(input);
  const isStabilized = stabilized.replicas !== proposed;
  const able = isStabilized
    ? { reason: stabilized.reason, message: stabilized.message }
    : { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
  const { replicas, reason, message } = limit(input, stabilized.replicas);
  const isLimited = replicas !== stabilized.replicas;
  const limited = { type: 'ScalingLimited', status: isLimited ? 'True' : 'False', reason, message };
  const ableCondition = { type: 'AbleToScale', status: 'True', ...able };
  return {
    replicas,
    conditions: withCondition(withCondition(input.conditions, ableCondition, nowMs), limited, nowMs),
    history: { ...input.history, recommendations: stabilized.recommendations },
  };
}

function stabilize(input: NormalizeInput): Stabilized {
  const { autoscaler, settings, history, currentReplicas, proposed, monotonicMs } = input;
  const behavior = behaviorOf(autoscaler);
  const { downscaleStabilizationMs } = settings;
  const { recommendations } = history;
  if (behavior === undefined)
    return stabilizeDownscale(recommendations, proposed, downscaleStabilizationMs, monotonicMs);
  const windows = {
    upSeconds: behavior.scaleUp.stabilizationWindowSeconds ?? 0,
    downSeconds: behavior.scaleDown.stabilizationWindowSeconds ?? Math.trunc(downscaleStabilizationMs / 1000),
  };
  return stabilizeBoth(recommendations, { currentReplicas, desiredReplicas: proposed }, windows, monotonicMs);
}

function limit(input: NormalizeInput, desiredReplicas: number): ReturnType<typeof limitReplicas> {
  const { autoscaler, history, currentReplicas, monotonicMs } = input;
  const { maxReplicas } = autoscaler.spec;
  const bounds = { minReplicas: minReplicasOf(autoscaler), maxReplicas };
  const behavior = behaviorOf(autoscaler);
  if (behavior === undefined) return limitReplicas(currentReplicas, desiredReplicas, bounds);
  return limitRate({ ...bounds, currentReplicas, desiredReplicas, behavior, history, nowMs: monotonicMs });
}

/** The API server fills in both directions if there is a `behavior`. */
export function behaviorOf({ spec }: Autoscaler): Behavior | undefined {
  const { behavior } = spec;
  return behavior && { scaleUp: behavior.scaleUp ?? {}, scaleDown: behavior.scaleDown ?? {} };
}
