import { TokenBucket, type Clock } from '../time/index.ts';

/** Makes requests wait so that the server sees no more of them than `qps` a second, bursts apart. */
export interface RateLimiter {
  /** Undefined when the request may go at once; else resolves, with the milliseconds waited, when it may. */
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
      bucket.giveBack(); // aborted: those behind it need not wait for a request that never leaves
      throw error;
    }
  }
}
