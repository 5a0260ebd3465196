import { describe, expect, test } from 'vitest';
import { bucketLimiter, defaultRateLimiter, exponentialLimiter, maxOfLimiters } from './rate-limiter.ts';
import type { RateLimiter } from './rate-limiter.ts';

const tries = (limiter: RateLimiter<string>, count: number, key = 'key'): number[] =>
  Array.from({ length: count }, () => limiter.nextDelayMs(key, 0));

describe('rate limiters', () => {
  const rows: readonly { name: string; create: () => RateLimiter<string>; expected: readonly number[] }[] = [
    {
      name: 'the exponential one doubles up to its limit',
      create: () => exponentialLimiter({ baseMs: 5, maxMs: 30 }),
      expected: [5, 10, 20, 30, 30],
    },
    {
      name: 'the bucket allows a burst, then one per interval',
      create: () => bucketLimiter({ qps: 10, burst: 2 }),
      expected: [0, 0, 100, 200],
    },
    {
      name: 'the longest delay of several counts',
      create: () =>
        maxOfLimiters(exponentialLimiter({ baseMs: 50, maxMs: 1000 }), bucketLimiter({ qps: 10, burst: 1 })),
      expected: [50, 100, 200, 400],
    },
  ];
  for (const { name, create, expected } of rows) {
    test(name, () => expect(tries(create(), expected.length)).toEqual(expected));
  }

  test('the default starts at 5 ms and ends at 1000 s however often a key fails', () => {
    const delays = tries(defaultRateLimiter(), 100);
    expect(delays.slice(0, 3)).toEqual([5, 10, 20]);
    expect(delays.at(-1)).toBe(1_000_000);
    const thousands = tries(exponentialLimiter({ baseMs: 5, maxMs: 1_000_000 }), 5000);
    expect(thousands.at(-1)).toBe(1_000_000);
  });

  test('the default lets 100 keys fail at once and then 10 a second', () => {
    const limiter = defaultRateLimiter<string>();
    const delays = Array.from({ length: 103 }, (_, i) => limiter.nextDelayMs(`key-${i}`, 0));
    expect(delays.slice(98)).toEqual([5, 5, 100, 200, 300]);
    expect(limiter.nextDelayMs('later', 60_000)).toBe(5);
  });

  test('each key has its own count', () => {
    const limiter = defaultRateLimiter<string>();
    tries(limiter, 3, 'a');
    tries(limiter, 1, 'b');
    expect([limiter.numRequeues('a'), limiter.numRequeues('b'), limiter.numRequeues('c')]).toEqual([3, 1, 0]);
    limiter.forget('a');
    expect([limiter.numRequeues('a'), limiter.numRequeues('b')]).toEqual([0, 1]);
    expect(limiter.nextDelayMs('a', 0)).toBe(5);
  });
});
