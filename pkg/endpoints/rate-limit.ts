import type { ObjectKey } from '../api/index.ts';
import { bucketLimiter, exponentialLimiter, maxOfLimiters, type RateLimiter } from '../../workqueue/index.ts';

/** A failed sync may have thousands of endpoints to write: the first retry waits a second, not milliseconds. */
export function sliceRateLimiter(maxMs: number): RateLimiter<ObjectKey> {
  return maxOfLimiters<ObjectKey>(exponentialLimiter({ baseMs: 1000, maxMs }), bucketLimiter({ qps: 10, burst: 100 }));
}
