export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Each delay is the previous one times this. Default 2. */
  readonly factor?: number | undefined;
  /** Adds up to this share of the delay at random, so that many clients do not retry at once. Default 0. */
  readonly jitter?: number | undefined;
}

/**
 * The delay before retry number `attempt` (0 is the first): `baseMs * factor^attempt`, at most `maxMs`, plus jitter.
 * `random` is a number from 0 to 1, as `Math.random()` returns it.
 */
export function backoffDelay(backoff: Backoff, attempt: number, random: number): number {
  const { baseMs, maxMs, factor = 2, jitter = 0 } = backoff;
  const delay = Math.min(maxMs, baseMs * factor ** attempt);
  return delay * (1 + jitter * random);
}
