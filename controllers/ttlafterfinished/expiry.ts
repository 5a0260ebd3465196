import { parseTime, isBeingDeleted, type Cached, type Job } from '../../pkg/api/index.ts';

export type Expiry =
  /** Not finished, without a TTL, already going, or without a time to count from. */
  | { readonly kind: 'never' }
  | { readonly kind: 'later'; readonly inMs: number; readonly finishedInFuture: boolean }
  | { readonly kind: 'now'; readonly lateMs: number };

/**
 * When the Job may be deleted: its TTL after the moment it finished. Clocks that disagree can make that moment lie
 * ahead of us; then the whole TTL still has to pass from there.
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
