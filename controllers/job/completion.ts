import { formatTime, parseTime, type Cached, type Job, type JobStatus } from '../../pkg/api/index.ts';
import { withTerminal, type Ending } from './conditions.ts';
import { isSuspended } from './job-spec.ts';

/**
 * The status with its terminal condition, if the Job may end now: none of its pods is left running, terminating or
 * uncounted. The server insists on all of that, and on times that make sense.
 */
export function computeFinished(
  job: Cached<Job>,
  status: JobStatus,
  ending: Ending,
  nowMs: number,
): JobStatus | undefined {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  if (succeeded.length + failed.length > 0) return undefined;
  if ((status.active ?? 0) > 0 || (status.terminating ?? 0) > 0) return undefined;
  const finished: JobStatus = { ...status, conditions: [...withTerminal(status.conditions ?? [], ending, nowMs)] };
  // One that ends while suspended has lost its start time, and may not finish without.
  if (parseTime(finished.startTime) === undefined && !(isSuspended(job) && job.spec.completions === 0)) {
    finished.startTime = formatTime(nowMs);
  }
  if (ending.outcome === 'succeeded') {
    // Whoever started it may have had a clock ahead of ours; completed before it started, it would never be accepted.
    finished.completionTime = formatTime(Math.max(nowMs, parseTime(finished.startTime) ?? nowMs));
  }
  return finished;
}
