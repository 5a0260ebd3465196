import { parseTime, isBeingDeleted, type Cached, type Job } from '../../pkg/api/index.ts';

export type Expiry =
  /** The Job is not finished, has no TTL, is terminating, or has no finish time. */
  | { readonly kind: 'never' }
  | { readonly kind: 'later'; readonly inMs: number; readonly finishedInFuture: boolean }
  | { readonly kind: 'now'; readonly lateMs: number };

/**
 * When the Job may be deleted: its TTL after it finished. If clocks differ, the finish time may be in the future. Then
 * the TTL still starts at that time.
 */
export function computeExpiry(job: Cached<Job>, nowMs: number): Expiry {
  const ttlSeconds = job.spec.ttlSecondsAfterFinished;
  const finishedMs = finishedAtMs(job);
  if (isBeingDeleted(job.metadata) || ttlSeconds === undefined || finishedMs === undefined) {
    return { kind: 'never' };
  }
  const expiresMs = finishedMs + ttlSeconds * 1000;
  if (expiresMs <= nowMs) return { kind: 'now', lateMs: nowMs - expiresMs };
  return { kind: 'later', inMs: expiresMs - nowMs, finishedInFuture: finishedMs > nowMs };
}

function finishedAtMs(job: Cached<Job>): number | undefined {
  const finished = job.status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  return parseTime(finished?.lastTransitionTime);
}
