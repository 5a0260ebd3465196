import { isEqualJson, isBeingDeleted, type Cached, type Job, type JobStatus, type Pod } from '../../pkg/api/index.ts';
import { announcedEnding, withAnnouncement } from './conditions.ts';
import { countIndexes, formatIndexList } from './index-list.ts';
import { completionIndexOf, hasFailed, hasSucceeded, isCountable, isTracked } from './job-pods.ts';
import { isIndexed } from './job-spec.ts';
import { countsAsFailure, judgeFailure, type FailureVerdict } from './pod-failure-policy.ts';
import type { Progress } from './progress.ts';
import type { Assessment } from './assess.ts';

/*
 * How a pod's end gets into the counters exactly once, although pod and Job cannot be written together:
 *
 *   1. the pod's uid enters `uncountedTerminatedPods`, in the Job's status;
 *   2. the pod loses its finalizer, and may vanish from now on;
 *   3. the uid leaves the list and the counter grows, in one write of the status.
 *
 * A uid in the list whose pod has its finalizer is between 1 and 2, one whose pod has none between 2 and 3. After a
 * crash both are seen in the caches, and the rest of the way is gone again. Succeeded indexes need no uids: an index
 * that stands in the status is not counted again.
 */

/** Uids in a status, about 20 kB of them, and pods released in one sync, so that a huge Job does not starve others. */
const maxBatch = 500;

export interface TrackingPlan {
  /** To be written before any finalizer goes. */
  readonly status: JobStatus;
  /** Pods that are to lose their finalizers then. */
  readonly release: readonly Cached<Pod>[];
  /** Whether no more than these are left to release. */
  readonly isComplete: boolean;
  /** What the pod failure policy had to say about each failure that is counted or ignored now. */
  readonly failureActions: readonly NonNullable<FailureVerdict['action']>[];
}

export function planTracking(assessment: Assessment, progress: Progress): TrackingPlan {
  const { job, pods, indexes, nowMs } = assessment;
  const { ending } = progress;
  const base = countReleased(baseStatus(job, progress), trackedUids(pods));
  const batch = collectBatch(assessment, progress, base);
  const conditions = progress.status.conditions ?? [];
  return {
    status: {
      ...base,
      ...(indexes !== undefined && {
        succeeded: countIndexes(indexes.succeeded),
        completedIndexes: formatIndexList(indexes.succeeded),
        failedIndexes: indexes.failed === undefined ? undefined : formatIndexList(indexes.failed),
      }),
      conditions: [...(ending === undefined ? conditions : withAnnouncement(conditions, ending, nowMs))],
      uncountedTerminatedPods: batch.uncounted,
    },
    release: batch.release,
    isComplete: batch.isComplete,
    failureActions: batch.failureActions,
  };
}

function baseStatus({ status = {} }: Cached<Job>, progress: Progress): JobStatus {
  const { conditions = [] } = progress.status;
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  return {
    ...status,
    ...progress.status,
    conditions,
    uncountedTerminatedPods: { succeeded: [...succeeded], failed: [...failed] },
  };
}

export function trackedUids(pods: readonly Cached<Pod>[]): ReadonlySet<string> {
  return new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid));
}

/** Moves the uids whose pods are no longer tracked from the lists into the counters. */
export function countReleased(status: JobStatus, tracked: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const stillSucceeded = succeeded.filter((uid) => tracked.has(uid));
  const stillFailed = failed.filter((uid) => tracked.has(uid));
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - stillSucceeded.length,
    failed: (status.failed ?? 0) + failed.length - stillFailed.length,
    uncountedTerminatedPods: { succeeded: stillSucceeded, failed: stillFailed },
  };
}

interface Batch extends Pick<TrackingPlan, 'release' | 'isComplete' | 'failureActions'> {
  readonly uncounted: { readonly succeeded: string[]; readonly failed: string[] };
}

function collectBatch(assessment: Assessment, progress: Progress, { uncountedTerminatedPods }: JobStatus): Batch {
  const { job, indexes } = assessment;
  const succeeded = [...(uncountedTerminatedPods?.succeeded ?? [])];
  const failed = [...(uncountedTerminatedPods?.failed ?? [])];
  const listed = new Set([...succeeded, ...failed]);
  const release: Cached<Pod>[] = [];
  const failureActions: NonNullable<FailureVerdict['action']>[] = [];
  let isComplete = true;
  for (const pod of inOrder(assessment)) {
    if (!mayRelease(pod, assessment, progress)) continue;
    const isListed = listed.has(pod.metadata.uid); // its release was cut short in an earlier sync
    if (!isListed && (release.length >= maxBatch || succeeded.length + failed.length >= maxBatch)) {
      isComplete = false;
      continue;
    }
    release.push(pod);
    if (isListed) continue;
    if (hasSucceeded(pod)) {
      if (indexes === undefined) succeeded.push(pod.metadata.uid);
    } else if (isCountedAsFailed(pod, job, progress)) {
      const verdict = judgeFailure(job.spec.podFailurePolicy, pod);
      if (verdict.action !== undefined) failureActions.push(verdict.action);
      if (countsAsFailure(verdict)) failed.push(pod.metadata.uid);
    }
  }
  return { uncounted: { succeeded, failed }, release, isComplete, failureActions };
}

/** Indexes are counted in order, so that their text form stays short. */
function inOrder({ job, pods }: Assessment): readonly Cached<Pod>[] {
  if (!isIndexed(job)) return pods;
  return [...pods].sort((a, b) => (completionIndexOf(a) ?? -1) - (completionIndexOf(b) ?? -1));
}

function mayRelease(pod: Cached<Pod>, { job, indexes }: Assessment, { ending }: Progress): boolean {
  if (!isTracked(pod)) return false;
  if (ending !== undefined || isBeingDeleted(job.metadata) || hasSucceeded(pod)) return true;
  if (!hasFailed(pod, job)) return false;
  const index = completionIndexOf(pod);
  return index === undefined || indexes?.toReplace.get(index)?.metadata.uid !== pod.metadata.uid;
}

/**
 * When a Job fails, every pod that has not ended has failed with it. When it has succeeded, the pods that it deleted
 * since have not failed, although they look like it.
 */
function isCountedAsFailed(pod: Cached<Pod>, job: Cached<Job>, { ending }: Progress): boolean {
  if (!isCountable(pod, job)) return false;
  if (ending?.outcome === 'failed') return true;
  const isDeletedByUs = isBeingDeleted(pod.metadata) && announcedEnding(job)?.outcome === 'succeeded';
  return hasFailed(pod, job) && !isDeletedByUs;
}

/** Whether writing `status` would change what the Job shows. */
export function isStatusCurrent(shown: Cached<JobStatus> | undefined, status: JobStatus): boolean {
  return isEqualJson(onTheWire(shown ?? {}), onTheWire(status));
}

/** The server leaves out counts of zero and empty lists, but not the zeros of `ready` and `terminating`. */
function onTheWire(status: Cached<JobStatus>): object {
  const { active, succeeded, failed, completedIndexes, conditions, uncountedTerminatedPods, ...others } = status;
  return {
    ...others,
    active: active === 0 ? undefined : active,
    succeeded: succeeded === 0 ? undefined : succeeded,
    failed: failed === 0 ? undefined : failed,
    completedIndexes: completedIndexes === '' ? undefined : completedIndexes,
    conditions: conditions?.length === 0 ? undefined : conditions,
    uncountedTerminatedPods: uncountedTerminatedPods && {
      succeeded: uncountedTerminatedPods.succeeded?.length === 0 ? undefined : uncountedTerminatedPods.succeeded,
      failed: uncountedTerminatedPods.failed?.length === 0 ? undefined : uncountedTerminatedPods.failed,
    },
  };
}
