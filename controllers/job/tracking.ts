import { isEqualJson, isBeingDeleted, type Cached, type Job, type JobStatus, type Pod } from '../../pkg/api/index.ts';
import { announcedEnding, withAnnouncement } from './conditions.ts';
import { countIndexes, formatIndexList } from './index-list.ts';
import { completionIndexOf, hasFailed, hasSucceeded, isCountable, isTracked } from './job-pods.ts';
import { isIndexed } from './job-spec.ts';
import { countsAsFailure, judgeFailure, type FailureVerdict } from './pod-failure-policy.ts';
import type { Progress } from './progress.ts';
import type { Assessment } from './assess.ts';

/*
 * Every ended pod is counted exactly once, although pod and Job cannot be written together:
 *
 *   1. add the pod's uid to `uncountedTerminatedPods` in the Job's status;
 *   2. remove the pod's finalizer: from then on the pod may be deleted;
 *   3. remove the uid from the list and increment the counter, in one status write.
 *
 * If a listed pod has its finalizer, step 2 is next. If it does not, step 3 is next. So a sync after a crash continues
 * at the right step. Succeeded indexes need no uids: an index in the status is not counted again.
 */

/** The limit for uids in a status (about 20 kB) and for pods released in one sync: a huge Job must not starve others. */
const maxBatch = 500;

export interface TrackingPlan {
  /** Write this before any finalizer is removed. */
  readonly status: JobStatus;
  /** The pods whose finalizers are removed after that write. */
  readonly release: readonly Cached<Pod>[];
  /** Whether no other pod is left to release. */
  readonly isComplete: boolean;
  /** The action of the pod failure policy for each failure that this sync counts or ignores. */
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
    const isListed = listed.has(pod.metadata.uid); // an earlier sync did not complete its release
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

/** Indexes are counted in ascending order, which keeps `completedIndexes` short. */
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
 * If the Job fails, every pod that has not succeeded counts as failed. If it succeeds, the pods that it deletes do not
 * count as failed.
 */
function isCountedAsFailed(pod: Cached<Pod>, job: Cached<Job>, { ending }: Progress): boolean {
  if (!isCountable(pod, job)) return false;
  if (ending?.outcome === 'failed') return true;
  const isDeletedByUs = isBeingDeleted(pod.metadata) && announcedEnding(job)?.outcome === 'succeeded';
  return hasFailed(pod, job) && !isDeletedByUs;
}

/** Whether the Job already has this status. */
export function isStatusCurrent(current: Cached<JobStatus> | undefined, status: JobStatus): boolean {
  return isEqualJson(serialized(current ?? {}), serialized(status));
}

/** The API server omits counts of zero and empty lists, except for zeros of `ready` and `terminating`. */
function serialized(status: Cached<JobStatus>): object {
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
