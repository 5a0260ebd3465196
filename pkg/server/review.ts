import { isConnectionError, isInternal, isServerTimeout, isTimeout } from '../client/index.ts';
import type { Client } from '../client/index.ts';
import { withTimeLimit } from '../time/index.ts';
import type { Clock } from '../time/index.ts';

/** How long one question may take, repeats included: a probe or scrape that hangs longer has given up anyway. */
const reviewTimeoutMs = 10_000;
const firstDelayMs = 500;
const maxAttempts = 5;

/**
 * Posts a review and gives the server's copy. Reviews change nothing, so unlike other creates they may be sent again
 * when the connection was lost or the server stumbled.
 */
export async function postReview(
  { client, clock }: { readonly client: Pick<Client, 'request'>; readonly clock: Clock },
  { path, body }: { readonly path: string; readonly body: unknown },
  signal: AbortSignal,
): Promise<unknown> {
  return withTimeLimit(
    { clock, limitMs: reviewTimeoutMs },
    (bounded) => askUntilAnswered(() => client.request({ method: 'POST', path, body }, bounded), clock, bounded),
    signal,
  );
}

async function askUntilAnswered(ask: () => Promise<unknown>, clock: Clock, signal: AbortSignal): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === maxAttempts || signal.aborted || !isPassing(error)) throw error;
    }
    await clock.sleep(firstDelayMs * 1.5 ** (attempt - 1), signal);
  }
}

/** A refusal stays one however often it is asked for. */
function isPassing(error: unknown): boolean {
  return isConnectionError(error) || isInternal(error) || isTimeout(error) || isServerTimeout(error);
}
