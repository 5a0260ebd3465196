import { bucketLimiter, exponentialLimiter, maxOfLimiters, type RateLimiter } from '../../workqueue/index.ts';
import type { ObjectKey } from '../api/index.ts';

/**
 * The retries of a request that could not be approved or signed: slower than the default, since users cause most of
 * them.
 */
export function requestRetries(): RateLimiter<ObjectKey> {
  return maxOfLimiters(exponentialLimiter({ baseMs: 200, maxMs: 1_000_000 }), bucketLimiter({ qps: 10, burst: 100 }));
}
