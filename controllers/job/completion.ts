import { formatTime, parseTime, type Cached, type Job, type JobStatus } from '../../pkg/api/index.ts';
import { withTerminal, type Ending } from './conditions.ts';
import { isSuspended } from './job-spec.ts';

/**
 * The status with the terminal condition; undefined while a pod is active, terminating or not counted. The API server
 * rejects a finished Job with such pods, or with inconsistent times.
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
  // A suspended Job has no start time, but a finished Job needs one.
  if (parseTime(finished.startTime) === undefined && !(isSuspended(job) && job.spec.completions === 0)) {
    finished.startTime = formatTime(nowMs);
  }
  if (ending.outcome === 'succeeded') {
    // The start time may come from a clock ahead of ours. The API server rejects a completion before the start.
    finished.completionTime = formatTime(Math.max(nowMs, parseTime(finished.startTime) ?? nowMs));
  }
  return finished;
}
