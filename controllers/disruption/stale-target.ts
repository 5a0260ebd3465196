import {
  findCondition,
  isBeingDeleted,
  parseTime,
  zeroTimeMs,
  type Cached,
  type Pod,
  type PodStatus,
} from '../../pkg/api/index.ts';
import { changedPodCondition, isPodFinished } from '../../pkg/pods/index.ts';

/** How long a pod may have the DisruptionTarget condition without being deleted. */
export const staleTargetTimeoutMs = 2 * 60_000;

const disruptionTarget = 'DisruptionTarget';

/**
 * How long until the pod's DisruptionTarget condition is stale; undefined if it never will be. The kubelet's own
 * condition may be set any time before the deletion.
 */
export function staleTargetAfterMs(pod: Cached<Pod>, nowMs: number): number | undefined {
  const condition = findCondition(pod.status?.conditions ?? [], disruptionTarget);
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  if (isBeingDeleted(pod.metadata) || isPodFinished(pod)) return undefined;
  const sinceMs = parseTime(condition.lastTransitionTime) ?? zeroTimeMs;
  return Math.max(0, sinceMs + staleTargetTimeoutMs - nowMs);
}

/** The pod's status with the DisruptionTarget condition set to False. */
export function withoutTarget(pod: Cached<Pod>, nowMs: number): PodStatus {
  const cleared = changedPodCondition(pod, { type: disruptionTarget, status: 'False' }, nowMs);
  const conditions = (pod.status?.conditions ?? []).map((condition) =>
    condition.type === disruptionTarget && cleared !== undefined ? cleared : condition,
  );
  return { ...(pod.status as PodStatus), conditions: conditions };
}
