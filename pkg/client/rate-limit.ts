import { TokenBucket, type Clock } from '../time/index.ts';

/** Limits requests to `qps` per second on average, with bursts of up to `burst`. */
export interface RateLimiter {
  /** Returns undefined if the request can be sent at once. Otherwise resolves, with the wait in ms, when it can. */
  wait(signal: AbortSignal): Promise<number> | undefined;
}

export function createRateLimiter(
  { qps, burst }: { readonly qps: number; readonly burst: number },
  clock: Clock,
): RateLimiter {
  const bucket = new TokenBucket({ qps, burst });
  return {
    wait(signal) {
      const waitMs = bucket.reserve(clock.monotonic());
      return waitMs === 0 ? undefined : waitFor(waitMs, signal);
    },
  };

  async function waitFor(waitMs: number, signal: AbortSignal): Promise<number> {
    try {
      await clock.sleep(waitMs, signal);
      return waitMs;
    } catch (error) {
      bucket.giveBack(); // aborted: later requests need not wait for this one
      throw error;
    }
  }
}
