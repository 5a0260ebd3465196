import { isBeingDeleted, type Cached, type Job, type Pod } from '../../pkg/api/index.ts';
import { allIndexFailures, endedAtMs, hasSucceeded, isCountable, isTracked } from './job-pods.ts';

/** The failures of a Job's pods since the last success. */
export interface FailureStreak {
  readonly failures: number;
  readonly lastFailureMs: number;
}

const baseMs = 10_000;
const maxMs = 10 * 60_000;

const noStreak: FailureStreak = { failures: 0, lastFailureMs: 0 };

/** The streak with these ended pods. A success ends the streak. Only failures after the last success count. */
export function continueStreak(
  streak: FailureStreak,
  succeeded: readonly Cached<Pod>[],
  failed: readonly Cached<Pod>[],
): FailureStreak {
  const lastSuccessMs = latestOf(succeeded.map(endedAtMs));
  const before = succeeded.length > 0 ? noStreak : streak;
  const failuresMs = failed.map(endedAtMs).filter((endedMs) => endedMs > lastSuccessMs);
  if (failuresMs.length === 0) return before;
  return { failures: before.failures + failuresMs.length, lastFailureMs: latestOf(failuresMs) };
}

function latestOf(times: readonly number[]): number {
  return times.reduce((latest, time) => Math.max(latest, time), -Infinity);
}

/**
 * Computes the streak after a restart, from the pods that are already counted. Terminating pods do not count: a
 * suspended or scaled-down Job deletes its pods itself, and that is no failure.
 */
export function recallStreak(job: Cached<Job>, pods: readonly Cached<Pod>[]): FailureStreak {
  const uncounted = new Set(job.status?.uncountedTerminatedPods?.failed);
  const counted = pods.filter((pod) => isCountable(pod, job) && (!isTracked(pod) || uncounted.has(pod.metadata.uid)));
  const failed = counted.filter(({ status, metadata }) => status?.phase === 'Failed' && !isBeingDeleted(metadata));
  return continueStreak(noStreak, counted.filter(hasSucceeded), failed);
}

/** The remaining back-off of the Job: 0 if it may replace failed pods now. */
export function remainingBackoffMs({ failures, lastFailureMs }: FailureStreak, nowMs: number): number {
  if (failures === 0) return 0;
  const delayMs = Math.min(maxMs, baseMs * 2 ** (failures - 1));
  return Math.max(0, delayMs - (nowMs - lastFailureMs));
}

/** The remaining back-off of one index. The annotations of its last failed pod have the number of earlier failures. */
export function remainingIndexBackoffMs(lastFailed: Cached<Pod> | undefined, nowMs: number): number {
  if (lastFailed === undefined) return 0;
  const streak = { failures: allIndexFailures(lastFailed) + 1, lastFailureMs: endedAtMs(lastFailed) };
  return remainingBackoffMs(streak, nowMs);
}
