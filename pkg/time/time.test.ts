import { getEventListeners } from 'node:events';

import { describe, expect, test } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { backoffDelay } from './backoff.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { systemClock } from './system-clock.ts';
import { TokenBucket } from './token-bucket.ts';

describe('parseDuration', () => {
  const rows: readonly [string, number][] = [
    ['0', 0],
    ['0s', 0],
    ['300ms', 300],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['-10s', -10_000],
    ['+5s', 5000],
    ['.5s', 500],
    ['2h45m10.25s', 9_910_250],
    ['100us', 0.1],
    ['100µs', 0.1],
    ['1ns', 0.000001],
  ];
  for (const [text, ms] of rows) test(`reads ${text}`, () => expect(parseDuration(text)).toBe(ms));
  for (const text of ['', '-', '5', '1d', 's', '1m 30s', '1m30', 'abc', '.s']) {
    test(`refuses ${JSON.stringify(text)}`, () => expect(() => parseDuration(text)).toThrow('invalid duration'));
  }
});

describe('formatDuration', () => {
  for (const text of ['0s', '300ms', '1m30s', '1h0m0s', '2h45m10.25s', '1.5s', '12h0m0s', '-10s', '100µs', '1ns']) {
    test(`writes ${text} as Go does`, () => expect(formatDuration(parseDuration(text))).toBe(text));
  }
});

describe('backoffDelay', () => {
  const backoff = { baseMs: 100, maxMs: 1000, jitter: 0.5 };
  test('doubles from the base', () => {
    expect([0, 1, 2, 3].map((attempt) => backoffDelay(backoff, attempt, 0))).toEqual([100, 200, 400, 800]);
  });
  test('stays at the maximum however many attempts there were', () => {
    expect(backoffDelay(backoff, 4, 0)).toBe(1000);
    expect(backoffDelay(backoff, 10_000, 0)).toBe(1000);
  });
  test('adds jitter to the delay', () => expect(backoffDelay(backoff, 0, 0.5)).toBe(125));
});

describe('TokenBucket', () => {
  test('allows the burst at once and the rest at the rate', () => {
    const bucket = new TokenBucket({ qps: 10, burst: 2 });
    expect([bucket.reserve(0), bucket.reserve(0), bucket.reserve(0), bucket.reserve(0)]).toEqual([0, 0, 100, 200]);
  });
  test('fills up again, but never beyond the burst', () => {
    const bucket = new TokenBucket({ qps: 10, burst: 2 });
    bucket.reserve(0);
    bucket.reserve(0);
    expect([bucket.reserve(60_000), bucket.reserve(60_000), bucket.reserve(60_000)]).toEqual([0, 0, 100]);
  });
  test('tryTake fails while no token is available', () => {
    const bucket = new TokenBucket({ qps: 1, burst: 1 });
    expect([bucket.tryTake(0), bucket.tryTake(0), bucket.tryTake(999), bucket.tryTake(1000)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
  test('a reservation given back shortens the wait of the next', () => {
    const bucket = new TokenBucket({ qps: 10, burst: 1 });
    bucket.reserve(0);
    expect(bucket.reserve(0)).toBe(100);
    bucket.giveBack();
    expect(bucket.reserve(0)).toBe(100);
  });
  test('does not gain tokens from a time that goes back', () => {
    const bucket = new TokenBucket({ qps: 1000, burst: 1 });
    bucket.reserve(1000);
    expect(bucket.tryTake(0)).toBe(false);
  });
});

describe('sleep', () => {
  test('leaves no listener on the signal once it has passed', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const slept = clock.sleep(100, signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await clock.advance(100);
    await slept;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
  test('rejects with the reason of the abort and leaves no timer', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const slept = clock.sleep(100, controller.signal);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(slept).rejects.toBe(reason);
    expect(clock.pendingTimers).toBe(0);
  });
  test('rejects at once on a signal that has aborted before', async () => {
    await expect(systemClock.sleep(1e12, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });
});

describe('FakeClock', () => {
  test('fires timers in the order of their times, and those they set', async () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    clock.setTimer(30, () => fired.push(`c at ${clock.monotonic()}`));
    clock.setTimer(10, () => {
      fired.push(`a at ${clock.monotonic()}`);
      clock.setTimer(10, () => fired.push(`b at ${clock.monotonic()}`));
    });
    clock.setTimer(50, () => fired.push('too early'));
    await clock.advance(40);
    expect(fired).toEqual(['a at 10', 'b at 20', 'c at 30']);
    expect(clock.monotonic()).toBe(40);
  });
});
