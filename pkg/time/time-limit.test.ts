import { describe, expect, test } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { TimeLimitError, withTimeLimit } from './time-limit.ts';

const never = (): Promise<never> => new Promise(() => undefined);

describe('withTimeLimit', () => {
  test('returns the result of the operation, and leaves no timer', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    expect(await withTimeLimit({ clock, limitMs: 1000 }, async () => 7, signal)).toBe(7);
    expect(clock.pendingTimers).toBe(0);
  });

  test('aborts the operation at the limit, and does not wait for it to stop', async () => {
    const clock = new FakeClock();
    let seen: AbortSignal | undefined;
    const limited = withTimeLimit(
      { clock, limitMs: 1000 },
      (signal) => {
        seen = signal;
        return never();
      },
      new AbortController().signal,
    );
    const outcome = limited.catch((error: unknown) => error);
    await clock.advance(999);
    expect(seen?.aborted).toBe(false);
    await clock.advance(1);
    expect(seen?.aborted).toBe(true);
    expect(await outcome).toBeInstanceOf(TimeLimitError);
  });

  test('passes an abort on, with its reason', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const outcome = withTimeLimit({ clock, limitMs: 1000 }, never, stop.signal).catch((error: unknown) => error);
    const reason = new Error('stop');
    stop.abort(reason);
    expect(await outcome).toBe(reason);
    expect(clock.pendingTimers).toBe(0);
  });

  test('starts nothing under a signal that has aborted', async () => {
    const clock = new FakeClock();
    let started = false;
    const operation = async (): Promise<void> => {
      started = true;
    };
    await expect(withTimeLimit({ clock, limitMs: 1000 }, operation, AbortSignal.abort())).rejects.toThrow();
    expect(started).toBe(false);
  });

  test('an operation that throws at once fails like one that rejects', async () => {
    const clock = new FakeClock();
    const operation = (): never => {
      throw new Error('at once');
    };
    const outcome = withTimeLimit({ clock, limitMs: 1000 }, operation, new AbortController().signal);
    await expect(outcome).rejects.toThrow('at once');
    expect(clock.pendingTimers).toBe(0);
  });
});
