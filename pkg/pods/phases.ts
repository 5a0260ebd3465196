import { findCondition, parseTime, isBeingDeleted, type Cached, type Pod, type PodCondition } from '../api/index.ts';

/** Neither finished nor terminating. */
export function isPodActive(pod: Cached<Pod>): boolean {
  return !isPodFinished(pod) && !isBeingDeleted(pod.metadata);
}

export function isPodFinished(pod: Cached<Pod>): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Being deleted, but not finished yet. */
export function isPodTerminating(pod: Cached<Pod>): boolean {
  return !isPodFinished(pod) && isBeingDeleted(pod.metadata);
}

/** Finished, or being deleted and no container of it runs any more. */
export function isPodStopped(pod: Cached<Pod>): boolean {
  if (isPodFinished(pod)) return true;
  if (!isBeingDeleted(pod.metadata)) return false;
  const { initContainerStatuses, containerStatuses, ephemeralContainerStatuses } = pod.status ?? {};
  return [initContainerStatuses, containerStatuses, ephemeralContainerStatuses].every((statuses) =>
    (statuses ?? []).every(({ state }) => state?.terminated !== undefined || state?.waiting !== undefined),
  );
}

export function readyCondition(pod: Cached<Pod>): Cached<PodCondition> | undefined {
  return findCondition(pod.status?.conditions, 'Ready');
}

export function isPodReady(pod: Cached<Pod>): boolean {
  return readyCondition(pod)?.status === 'True';
}

/** Since when the pod has been ready; undefined if it is not ready, or its condition has no time. */
export function readySinceMs(pod: Cached<Pod>): number | undefined {
  const condition = readyCondition(pod);
  return condition?.status === 'True' ? parseTime(condition.lastTransitionTime) : undefined;
}

/** Ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: Cached<Pod>, minReadySeconds: number, nowMs: number): boolean {
  if (!isPodReady(pod)) return false;
  if (minReadySeconds <= 0) return true;
  const sinceMs = readySinceMs(pod);
  return sinceMs !== undefined && sinceMs + minReadySeconds * 1000 <= nowMs;
}

/** The time until the next of these ready pods becomes available; undefined if all are, or none is ready. */
export function nextAvailabilityMs(
  pods: readonly Cached<Pod>[],
  minReadySeconds: number,
  nowMs: number,
): number | undefined {
  if (minReadySeconds <= 0) return undefined;
  let soonest: number | undefined;
  for (const pod of pods) {
    const sinceMs = readySinceMs(pod);
    if (sinceMs === undefined) continue;
    const inMs = sinceMs + minReadySeconds * 1000 - nowMs;
    if (inMs > 0 && (soonest === undefined || inMs < soonest)) soonest = inMs;
  }
  return soonest;
}
