import { isConditionTrue, type Cached, type Job } from '../../pkg/api/index.ts';

/** The default of `spec.managedBy`. */
const ownName = 'kubernetes.io/job-controller';

export function isIndexed(job: Cached<Job>): boolean {
  return job.spec.completionMode === 'Indexed';
}

export function isCompletionModeKnown(job: Cached<Job>): boolean {
  const { completionMode = 'NonIndexed' } = job.spec;
  return completionMode === 'NonIndexed' || completionMode === 'Indexed';
}

/** The number of indexes of an indexed Job. */
export function indexCount(job: Cached<Job>): number {
  return job.spec.completions ?? 0;
}

/** Whether each index has its own backoff limit and back-off. */
export function hasBackoffPerIndex(job: Cached<Job>): boolean {
  return job.spec.backoffLimitPerIndex !== undefined;
}

export function isSuspended(job: Cached<Job>): boolean {
  return job.spec.suspend === true;
}

export function isFinished(job: Cached<Job>): boolean {
  const conditions = job.status?.conditions;
  return isConditionTrue(conditions, 'Complete') || isConditionTrue(conditions, 'Failed');
}

/** The external controller that manages the Job; undefined if this controller does. */
export function externalManagerOf({ spec }: Cached<Job>): string | undefined {
  return spec.managedBy === undefined || spec.managedBy === ownName ? undefined : spec.managedBy;
}

/**
 * Whether a terminating pod is replaced only after it has ended. A pod failure policy requires that: it can only be
 * evaluated for an ended pod.
 */
export function replacesOnlyEndedPods({ spec }: Cached<Job>): boolean {
  return spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;
}
