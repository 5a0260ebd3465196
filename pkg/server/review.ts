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
 * How long a review may wait for its turn. A longer wait would leave too little of the time limit for an answer. It also
 * bounds how many reviews wait: anyone can cause reviews, by new tokens or new paths.
 */
const maxWaitMs = 5000;

/** The server gets more requests that need a review than it may pass on to the API server. */
export class TooManyReviewsError extends Error {
  override readonly name = 'TooManyReviewsError';
  readonly reason = 'TooManyReviews';

  constructor() {
    super(`more than ${rate.qps} reviews a second are needed`);
  }
}

export interface Reviewer {
  /**
   * Posts a review and returns the API server's copy. Rejects at once with a `TooManyReviewsError` when too many others
   * wait already. A review changes nothing, so it is retried when the connection was lost or the server failed.
   */
  review(body: object, signal: AbortSignal): Promise<unknown>;
}

/** Reviews of one kind, all sent at no more than `rate`. */
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

/** Whether a retry may succeed. The server's refusal is final. */
function isTransient(error: unknown): boolean {
  return isConnectionError(error) || isInternal(error) || isTimeout(error) || isServerTimeout(error);
}
