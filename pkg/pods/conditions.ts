import { findCondition, formatTime, type Cached, type Pod, type PodCondition } from '../api/index.ts';

/**
 * The condition to write to the pod's status; undefined if the pod already has it. `lastTransitionTime` changes only
 * with `status`.
 */
export function changedPodCondition(
  pod: Cached<Pod>,
  wanted: Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>,
  nowMs: number,
): PodCondition | undefined {
  const present = findCondition(pod.status?.conditions, wanted.type);
  const isSameStatus = present?.status === wanted.status;
  if (isSameStatus && present.reason === wanted.reason && present.message === wanted.message) return undefined;
  return {
    ...wanted,
    lastTransitionTime: isSameStatus ? present.lastTransitionTime : formatTime(nowMs),
    observedGeneration: pod.metadata.generation,
  };
}
