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

/** Keeps an ended pod until it has been counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const completionIndexAnnotation = 'batch.kubernetes.io/job-completion-index';
export const indexFailuresAnnotation = 'batch.kubernetes.io/job-index-failure-count';
export const ignoredIndexFailuresAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count';

export function isTracked(pod: Cached<Pod>): boolean {
  return pod.metadata.finalizers?.includes(trackingFinalizer) === true;
}

/** The pod's completion index, which the Job may no longer have. */
export function completionIndexOf(pod: Cached<Pod>): number | undefined {
  const text = pod.metadata.annotations?.[completionIndexAnnotation] ?? '';
  return /^\+?\d+$/.test(text) ? Number(text) : undefined;
}

/** The pod's completion index; undefined if the Job does not have it. */
export function validIndexOf(pod: Cached<Pod>, job: Cached<Job>): number | undefined {
  const index = completionIndexOf(pod);
  return index !== undefined && index < indexCount(job) ? index : undefined;
}

/** Whether the pod counts for its Job. An indexed Job counts only pods with a valid index. */
export function isCountable(pod: Cached<Pod>, job: Cached<Job>): boolean {
  return !isIndexed(job) || validIndexOf(pod, job) !== undefined;
}

export function hasSucceeded(pod: Cached<Pod>): boolean {
  return pod.status?.phase === 'Succeeded';
}

/**
 * Whether the pod counts as failed. A terminating pod may never reach phase Failed, for example if its node is gone. It
 * counts as failed unless the Job replaces only ended pods.
 */
export function hasFailed(pod: Cached<Pod>, job: Cached<Job>): boolean {
  if (pod.status?.phase === 'Failed') return true;
  if (replacesOnlyEndedPods(job) || hasSucceeded(pod)) return false;
  return isBeingDeleted(pod.metadata);
}

/** Earlier failures of the pod's index that count towards the backoff limit. */
export function countedIndexFailures(pod: Cached<Pod>): number {
  return parseCount(pod.metadata.annotations?.[indexFailuresAnnotation]);
}

/** Earlier failures of the pod's index that the pod failure policy ignored. */
export function ignoredIndexFailures(pod: Cached<Pod>): number {
  return parseCount(pod.metadata.annotations?.[ignoredIndexFailuresAnnotation]);
}

export function allIndexFailures(pod: Cached<Pod>): number {
  return countedIndexFailures(pod) + ignoredIndexFailures(pod);
}

/** An annotation that is not an int32 count is 0: users can write annotations. */
function parseCount(text: string | undefined): number {
  if (text === undefined || !/^\+?\d+$/.test(text)) return 0;
  const count = Number(text);
  return count < 2 ** 31 ? count : 0;
}

/**
 * When the pod ended. The first known of: the end of its last container, the time since it has not been ready, its
 * deletion, its creation.
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

/** Sidecars end after all other containers: their end counts even if the end of another container is not known. */
function containersEndedAtMs({ spec, status }: Cached<Pod>): number | undefined {
  const sidecars = new Set<string>();
  for (const { name, restartPolicy } of spec.initContainers ?? []) if (restartPolicy === 'Always') sidecars.add(name);
  const ofSidecars = (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  return latestEndMs(latestEndMs(undefined, status?.containerStatuses ?? []), ofSidecars);
}

/** The latest of `sinceMs` and the ends of these containers; undefined if one of them has not ended. */
function latestEndMs(sinceMs: number | undefined, statuses: readonly Cached<ContainerStatus>[]): number | undefined {
  let latest = sinceMs;
  for (const { state } of statuses) {
    const endedMs = parseTime(state?.terminated?.finishedAt);
    if (endedMs === undefined) return undefined;
    latest = Math.max(latest ?? endedMs, endedMs);
  }
  return latest;
}
