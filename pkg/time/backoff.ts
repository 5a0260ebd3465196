export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Each delay is this many times the one before. Default 2. */
  readonly factor?: number | undefined;
  /** The share of the delay that chance adds on top, so that many waiters do not come back at once. Default 0. */
  readonly jitter?: number | undefined;
}

/**
 * The delay before attempt number `attempt` (0 is the first retry): `baseMs * factor^attempt`, at most `maxMs`, plus up
 * to `jitter` times as much again. `random` is a number from 0 up to 1, as `Math.random()` gives it.
 */
export function backoffDelay(backoff: Backoff, attempt: number, random: number): number {
  const { baseMs, maxMs, factor = 2, jitter = 0 } = backoff;
  const delay = Math.min(maxMs, baseMs * factor ** attempt);
  return delay * (1 + jitter * random);
}
