import { TokenBucket } from '../pkg/time/index.ts';

/** Computes how long a key must wait before its next retry. Takes the time as an argument and starts no timer. */
export interface RateLimiter<K> {
  /** Counts one more retry and returns the delay before it. */
  nextDelayMs(key: K, nowMs: number): number;
  /** Resets the count, after a success or when the retries end. */
  forget(key: K): void;
  /** Retries since the last `forget`. */
  numRequeues(key: K): number;
}

/** Starts at `baseMs` and doubles with each retry, up to `maxMs`. */
export function exponentialLimiter<K>(options: { baseMs: number; maxMs: number }): RateLimiter<K> {
  return countingLimiter((failures) => Math.min(options.baseMs * 2 ** failures, options.maxMs));
}

/** Every retry waits equally long. */
export function fixedLimiter<K>(delayMs: number): RateLimiter<K> {
  return { nextDelayMs: () => delayMs, forget() {}, numRequeues: () => 1 };
}

/**
 * Limits the retries of all keys together. Each retry reserves a token. If the bucket is empty, it waits until the token
 * is available.
 */
export function bucketLimiter<K>(options: { qps: number; burst: number }): RateLimiter<K> {
  const bucket = new TokenBucket(options);
  return {
    nextDelayMs: (_key, nowMs) => bucket.reserve(nowMs),
    forget() {},
    numRequeues: () => 0,
  };
}

/** The longest delay of several limiters. Every limiter counts every retry. */
export function maxOfLimiters<K>(...limiters: readonly RateLimiter<K>[]): RateLimiter<K> {
  return {
    nextDelayMs: (key, nowMs) => limiters.reduce((max, limiter) => Math.max(max, limiter.nextDelayMs(key, nowMs)), 0),
    forget(key) {
      for (const limiter of limiters) limiter.forget(key);
    },
    numRequeues: (key) => limiters.reduce((max, limiter) => Math.max(max, limiter.numRequeues(key)), 0),
  };
}

/** Per key from 5 ms to 1000 s. For all keys together 10 per second after a burst of 100. The longer delay counts. */
export function defaultRateLimiter<K>(): RateLimiter<K> {
  return maxOfLimiters(
    exponentialLimiter<K>({ baseMs: 5, maxMs: 1_000_000 }),
    bucketLimiter<K>({ qps: 10, burst: 100 }),
  );
}

function countingLimiter<K>(delayAfter: (failures: number) => number): RateLimiter<K> {
  const failuresByKey = new Map<K, number>();
  return {
    nextDelayMs(key) {
      const failures = failuresByKey.get(key) ?? 0;
      failuresByKey.set(key, failures + 1);
      return delayAfter(failures);
    },
    forget(key) {
      failuresByKey.delete(key);
    },
    numRequeues: (key) => failuresByKey.get(key) ?? 0,
  };
}
