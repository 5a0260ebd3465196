import { isConditionTrue, type Cached, type Job } from '../../pkg/api/index.ts';

/** Who manages a Job unless its spec says otherwise. */
const ownName = 'kubernetes.io/job-controller';

export function isIndexed(job: Cached<Job>): boolean {
  return job.spec.completionMode === 'Indexed';
}

export function isCompletionModeKnown(job: Cached<Job>): boolean {
  const { completionMode = 'NonIndexed' } = job.spec;
  return completionMode === 'NonIndexed' || completionMode === 'Indexed';
}

/** How many indexes an indexed Job has. */
export function indexCount(job: Cached<Job>): number {
  return job.spec.completions ?? 0;
}

/** Each index has its own failures to spend, and its own back-off. */
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

/** The name of the other controller that this Job was left to, if it was. */
export function externalManagerOf({ spec }: Cached<Job>): string | undefined {
  return spec.managedBy === undefined || spec.managedBy === ownName ? undefined : spec.managedBy;
}

/**
 * Whether a pod on its way out is replaced only once it has ended. A pod failure policy wants that too: what it has to
 * judge is known only then.
 */
export function replacesOnlyEndedPods({ spec }: Cached<Job>): boolean {
  return spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;
}
