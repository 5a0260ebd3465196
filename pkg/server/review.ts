import { isConnectionError, isInternal, isServerTimeout, isTimeout } from '../client/index.ts';
import type { Client } from '../client/index.ts';
import { TokenBucket, withTimeLimit } from '../time/index.ts';
import type { Clock } from '../time/index.ts';

/** The time limit of one review, retries included, as in the Go binary. */
const reviewTimeoutMs = 10_000;
const firstDelayMs = 500;
const maxAttempts = 5;
/** The rate of the Go binary's reviewer clients. */
const rate = { qps: 200, burst: 400 };
/**
 * How long a review may wait for the rate limit. A longer wait would leave too little of the time limit for the response.
 * This also limits how many reviews wait: anyone can cause reviews, with new tokens or new paths.
 */
const maxWaitMs = 5000;

/** More reviews are needed than the rate limit allows. */
export class TooManyReviewsError extends Error {
  override readonly name = 'TooManyReviewsError';
  readonly reason = 'TooManyReviews';

  constructor() {
    super(`more than ${rate.qps} reviews a second are needed`);
  }
}

export interface Reviewer {
  /**
   * Creates a review and returns the response. Rejects at once with a `TooManyReviewsError` if too many reviews wait. A
   * review has no side effects, so it is retried after a lost connection or a server error.
   */
  review(body: object, signal: AbortSignal): Promise<unknown>;
}

/** Creates reviews of one kind, at most at `rate`. */
export function createReviewer({
  client,
  clock,
  path,
}: {
  readonly client: Pick<Client, 'request'>;
  readonly clock: Clock;
  readonly path: string;
}): Reviewer {
  const bucket = new TokenBucket(rate);

  async function waitForTurn(signal: AbortSignal): Promise<void> {
    const waitMs = bucket.reserve(clock.monotonic());
    if (waitMs === 0) return;
    try {
      if (waitMs > maxWaitMs) throw new TooManyReviewsError();
      await clock.sleep(waitMs, signal);
    } catch (error) {
      bucket.giveBack();
      throw error;
    }
  }

  return {
    review(body, signal) {
      const ask = async (bounded: AbortSignal): Promise<unknown> => {
        await waitForTurn(bounded);
        return client.request({ method: 'POST', path, body }, bounded);
      };
      const limit = { clock, limitMs: reviewTimeoutMs };
      return withTimeLimit(limit, (bounded) => askUntilAnswered(() => ask(bounded), clock, bounded), signal);
    },
  };
}

async function askUntilAnswered(ask: () => Promise<unknown>, clock: Clock, signal: AbortSignal): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === maxAttempts || signal.aborted || !isTransient(error)) throw error;
    }
    await clock.sleep(firstDelayMs * 1.5 ** (attempt - 1), signal);
  }
}

/** Whether a retry may succeed. A rejection by the server is final. */
function isTransient(error: unknown): boolean {
  return isConnectionError(error) || isInternal(error) || isTimeout(error) || isServerTimeout(error);
}
