import { findCondition, formatTime, type Cached, type Job, type JobCondition } from '../../pkg/api/index.ts';

type Conditions = readonly Cached<JobCondition>[];
type NewCondition = Pick<JobCondition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * How a Job ends. An interim condition, `FailureTarget` or `SuccessCriteriaMet`, announces it. Once the last pod has
 * ended and is counted, the terminal condition follows.
 */
export interface Ending {
  readonly outcome: 'failed' | 'succeeded';
  readonly reason: string;
  readonly message: string;
}

const announcing = { failed: 'FailureTarget', succeeded: 'SuccessCriteriaMet' } as const;
const terminal = { failed: 'Failed', succeeded: 'Complete' } as const;

/** The ending that an earlier sync has announced. Later events cannot change it. */
export function announcedEnding(job: Cached<Job>): Ending | undefined {
  for (const outcome of ['succeeded', 'failed'] as const) {
    const condition = findCondition(job.status?.conditions, announcing[outcome]);
    if (condition?.status !== 'True') continue;
    return { outcome, reason: condition.reason ?? '', message: condition.message ?? '' };
  }
  return undefined;
}

export function withAnnouncement(
  conditions: Conditions,
  { outcome, reason, message }: Ending,
  nowMs: number,
): Conditions {
  const known = findCondition(conditions, announcing[outcome]);
  if (known?.status === 'True') return conditions;
  return withCondition(conditions, { type: announcing[outcome], status: 'True', reason, message }, nowMs);
}

export function withTerminal(conditions: Conditions, { outcome, reason, message }: Ending, nowMs: number): Conditions {
  return withCondition(conditions, { type: terminal[outcome], status: 'True', reason, message }, nowMs);
}

/** Returns the same list if the Suspended condition is already right. */
export function withSuspension(conditions: Conditions, suspended: boolean, nowMs: number): Conditions {
  const condition: NewCondition = suspended
    ? { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }
    : { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' };
  return withCondition(conditions, condition, nowMs);
}

/** An absent condition counts as False and is not added with that status. */
function withCondition(
  conditions: Conditions,
  { type, status, reason, message }: NewCondition,
  nowMs: number,
): Conditions {
  const position = conditions.findIndex((condition) => condition.type === type);
  const known = conditions[position];
  if (known === undefined && status === 'False') return conditions;
  if (known?.status === status && known.reason === reason && known.message === message) return conditions;
  const time = formatTime(nowMs);
  const condition: JobCondition = { type, status, reason, message, lastProbeTime: time, lastTransitionTime: time };
  return known === undefined ? [...conditions, condition] : conditions.with(position, condition);
}
