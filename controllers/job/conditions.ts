import { findCondition, formatTime, type Cached, type Job, type JobCondition } from '../../pkg/api/index.ts';

type Conditions = readonly Cached<JobCondition>[];
type Saying = Pick<JobCondition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * How a Job ends. It is announced first, in `FailureTarget` or `SuccessCriteriaMet`, and becomes the terminal condition
 * once the last pod has ended and is counted.
 */
export interface Ending {
  readonly outcome: 'failed' | 'succeeded';
  readonly reason: string;
  readonly message: string;
}

const announcing = { failed: 'FailureTarget', succeeded: 'SuccessCriteriaMet' } as const;
const terminal = { failed: 'Failed', succeeded: 'Complete' } as const;

/** The ending that an earlier sync has announced: nothing that happened since can change it. */
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

/** The same list if it shows already whether the Job is suspended. */
export function withSuspension(conditions: Conditions, suspended: boolean, nowMs: number): Conditions {
  const saying: Saying = suspended
    ? { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }
    : { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' };
  return withCondition(conditions, saying, nowMs);
}

/** Going from nothing to false says nothing and is not written. */
function withCondition(conditions: Conditions, saying: Saying, nowMs: number): Conditions {
  const position = conditions.findIndex(({ type }) => type === saying.type);
  const known = conditions[position];
  if (known === undefined && saying.status === 'False') return conditions;
  if (known?.status === saying.status && known.reason === saying.reason && known.message === saying.message) {
    return conditions;
  }
  const time = formatTime(nowMs);
  const condition: JobCondition = { ...saying, lastProbeTime: time, lastTransitionTime: time };
  return known === undefined ? [...conditions, condition] : conditions.with(position, condition);
}
