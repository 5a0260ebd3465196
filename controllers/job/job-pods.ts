import {
  parseTime,
  isBeingDeleted,
  zeroTimeMs,
  type Cached,
  type ContainerStatus,
  type Job,
  type Pod,
} from '../../pkg/api/index.ts';
import { readyCondition } from '../../pkg/pods/index.ts';
import { indexCount, isIndexed, replacesOnlyEndedPods } from './job-spec.ts';

/** Keeps a pod from vanishing before its end has been counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const completionIndexAnnotation = 'batch.kubernetes.io/job-completion-index';
export const indexFailuresAnnotation = 'batch.kubernetes.io/job-index-failure-count';
export const ignoredIndexFailuresAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count';

export function isTracked(pod: Cached<Pod>): boolean {
  return pod.metadata.finalizers?.includes(trackingFinalizer) === true;
}

/** The completion index that the pod carries, whether or not its Job still has it. */
export function completionIndexOf(pod: Cached<Pod>): number | undefined {
  const text = pod.metadata.annotations?.[completionIndexAnnotation] ?? '';
  return /^\+?\d+$/.test(text) ? Number(text) : undefined;
}

/** The completion index of a pod that works on one which its Job has. */
export function validIndexOf(pod: Cached<Pod>, job: Cached<Job>): number | undefined {
  const index = completionIndexOf(pod);
  return index !== undefined && index < indexCount(job) ? index : undefined;
}

/** Whether the pod's end is of interest to its Job: for an indexed one, only that of pods with a valid index is. */
export function isCountable(pod: Cached<Pod>, job: Cached<Job>): boolean {
  return !isIndexed(job) || validIndexOf(pod, job) !== undefined;
}

export function hasSucceeded(pod: Cached<Pod>): boolean {
  return pod.status?.phase === 'Succeeded';
}

/**
 * Whether the pod counts as failed. A pod that is deleted may never reach the phase, as when its node is gone; where the
 * Job does not insist on the end of every pod, its deletion is enough.
 */
export function hasFailed(pod: Cached<Pod>, job: Cached<Job>): boolean {
  if (pod.status?.phase === 'Failed') return true;
  if (replacesOnlyEndedPods(job) || hasSucceeded(pod)) return false;
  return isBeingDeleted(pod.metadata);
}

/** Failures of the pod's index before this pod that counted against the limit. */
export function countedIndexFailures(pod: Cached<Pod>): number {
  return parseCount(pod.metadata.annotations?.[indexFailuresAnnotation]);
}

/** Failures of the pod's index before this pod that a policy had ignored. */
export function ignoredIndexFailures(pod: Cached<Pod>): number {
  return parseCount(pod.metadata.annotations?.[ignoredIndexFailuresAnnotation]);
}

export function allIndexFailures(pod: Cached<Pod>): number {
  return countedIndexFailures(pod) + ignoredIndexFailures(pod);
}

/** Users can write annotations: whatever is no count of failures counts as none. */
function parseCount(text: string | undefined): number {
  if (text === undefined || !/^\+?\d+$/.test(text)) return 0;
  const count = Number(text);
  return count < 2 ** 31 ? count : 0;
}

/**
 * When the pod ended, as well as its status tells: the last of its containers; else since when it has not been ready;
 * else when it was deleted; else, where neither kubelet nor pod garbage collector is at work, when it was made.
 */
export function endedAtMs(pod: Cached<Pod>): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata;
  const ready = readyCondition(pod);
  const deletedMs = parseTime(deletionTimestamp);
  return (
    containersEndedAtMs(pod) ??
    (ready?.status === 'False' ? parseTime(ready.lastTransitionTime) : undefined) ??
    (deletedMs === undefined ? undefined : deletedMs - deletionGracePeriodSeconds * 1000) ??
    parseTime(creationTimestamp) ??
    zeroTimeMs
  );
}

/** Sidecars end after the others, so what they tell stands even where the end of another container is not known. */
function containersEndedAtMs({ spec, status }: Cached<Pod>): number | undefined {
  const sidecars = new Set<string>();
  for (const { name, restartPolicy } of spec.initContainers ?? []) if (restartPolicy === 'Always') sidecars.add(name);
  const ofSidecars = (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  return latestEndMs(latestEndMs(undefined, status?.containerStatuses ?? []), ofSidecars);
}

/** The latest of `sinceMs` and the ends of these containers; undefined if one of them has none. */
function latestEndMs(sinceMs: number | undefined, statuses: readonly Cached<ContainerStatus>[]): number | undefined {
  let latest = sinceMs;
  for (const { state } of statuses) {
    const endedMs = parseTime(state?.terminated?.finishedAt);
    if (endedMs === undefined) return undefined;
    latest = Math.max(latest ?? endedMs, endedMs);
  }
  return latest;
}
