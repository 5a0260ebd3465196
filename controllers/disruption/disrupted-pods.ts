import {
  isBeingDeleted,
  ownValue,
  parseTime,
  setOwn,
  zeroTimeMs,
  type Cached,
  type Pod,
  type PodDisruptionBudget,
} from '../../pkg/api/index.ts';
import { isPodReady } from '../../pkg/pods/index.ts';

/**
 * How long the deletion of a pod may take to show after the API server evicted it. A pod that is not terminating by
 * then counts as healthy again.
 */
export const deletionTimeoutMs = 2 * 60_000;

export interface DisruptedPods {
  /** The evictions to wait for: their times by the name of the pod. */
  readonly waiting: Readonly<Record<string, string>>;
  /** The pods whose eviction was not followed by a deletion. */
  readonly notDeleted: readonly Cached<Pod>[];
  /** When the first of the evictions times out; undefined if there is none. */
  readonly nextTimeoutMs: number | undefined;
}

/** Drops the evictions that are complete, and those that were not followed by a deletion in time. */
export function selectDisruptedPods(
  { status }: Cached<PodDisruptionBudget>,
  pods: readonly Cached<Pod>[],
  nowMs: number,
): DisruptedPods {
  const waiting: Record<string, string> = {};
  const notDeleted: Cached<Pod>[] = [];
  let nextTimeoutMs: number | undefined;
  const recorded = status?.disruptedPods;
  if (recorded === undefined || recorded === null) return { waiting, notDeleted, nextTimeoutMs };
  for (const pod of pods) {
    const time = ownValue<string | null>(recorded, pod.metadata.name);
    if (time === undefined || isBeingDeleted(pod.metadata)) continue;
    const timeoutMs = timeoutOf(time);
    if (timeoutMs < nowMs || time === null) {
      notDeleted.push(pod);
      continue;
    }
    setOwn(waiting, pod.metadata.name, time);
    nextTimeoutMs = Math.min(nextTimeoutMs ?? Infinity, timeoutMs);
  }
  return { waiting, notDeleted, nextTimeoutMs };
}

/** Ready pods that are not being evicted. */
export function countHealthyPods(
  pods: readonly Cached<Pod>[],
  waiting: DisruptedPods['waiting'],
  nowMs: number,
): number {
  let healthy = 0;
  for (const pod of pods) {
    if (isBeingDeleted(pod.metadata) || !isPodReady(pod)) continue;
    const time = ownValue(waiting, pod.metadata.name);
    if (time === undefined || timeoutOf(time) <= nowMs) healthy += 1;
  }
  return healthy;
}

function timeoutOf(time: string | null): number {
  return (parseTime(time) ?? zeroTimeMs) + deletionTimeoutMs;
}
