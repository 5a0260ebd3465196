import { TokenBucket } from '../pkg/time/index.ts';

/** Says how long a key must wait before it is tried again. Takes the time as an argument and starts nothing. */
export interface RateLimiter<K> {
  /** Counts one more try and gives the delay before it. */
  nextDelayMs(key: K, nowMs: number): number;
  /** The key has succeeded or is given up: its next failure is a first one. */
  forget(key: K): void;
  /** Tries counted since the key was last forgotten. */
  numRequeues(key: K): number;
}

/** The delay of the first retry, doubled with each further one. */
export function exponentialLimiter<K>(options: { baseMs: number; maxMs: number }): RateLimiter<K> {
  return countingLimiter((failures) => Math.min(options.baseMs * 2 ** failures, options.maxMs));
}

/** A few quick retries, then slow ones. */
export function fastSlowLimiter<K>(options: {
  fastMs: number;
  slowMs: number;
  maxFastAttempts: number;
}): RateLimiter<K> {
  return countingLimiter((failures) => (failures < options.maxFastAttempts ? options.fastMs : options.slowMs));
}

/**
 * Bounds the retries of all keys together. Each takes a token, or the promise of one: whoever finds the bucket empty
 * waits until its token would have been filled in.
 */
export function bucketLimiter<K>(options: { qps: number; burst: number }): RateLimiter<K> {
  const bucket = new TokenBucket(options);
  return {
    nextDelayMs: (_key, nowMs) => bucket.reserve(nowMs),
    forget() {},
    numRequeues: () => 0,
  };
}

/** The strictest of several. Each of them counts every try, also those that another delays. */
export function maxOfLimiters<K>(...limiters: readonly RateLimiter<K>[]): RateLimiter<K> {
  return {
    nextDelayMs: (key, nowMs) => limiters.reduce((max, limiter) => Math.max(max, limiter.nextDelayMs(key, nowMs)), 0),
    forget(key) {
      for (const limiter of limiters) limiter.forget(key);
    },
    numRequeues: (key) => limiters.reduce((max, limiter) => Math.max(max, limiter.numRequeues(key)), 0),
  };
}

/** Caps the delays of another limiter. */
export function cappedLimiter<K>(limiter: RateLimiter<K>, maxMs: number): RateLimiter<K> {
  return {
    nextDelayMs: (key, nowMs) => Math.min(limiter.nextDelayMs(key, nowMs), maxMs),
    forget: (key) => limiter.forget(key),
    numRequeues: (key) => limiter.numRequeues(key),
  };
}

/** Per key from 5 ms to 1000 s; over all keys 10 a second after a burst of 100, whichever is longer. */
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
