import { backoffDelay } from '../time/index.ts';
import { ApiError, ConnectionError, hasCause } from './errors.ts';

/**
 * What may be done twice. `safe`: anything that only reads. `repeatable`: a write whose repetition changes nothing more,
 * because a precondition or its own nature sees to it. `once`: everything else, above all a create.
 */
export type Repetition = 'safe' | 'repeatable' | 'once';

/** As many as client-go allows: a server that refuses ten times in a row is not about to change its mind. */
const maxRefusals = 10;
/** Longer waits are the caller's business: it gets the error, which says how long. */
const maxRetryAfterMs = 60_000;
/** Enough to get over a connection that was closed under us; an outage is for the back-off of queues and informers. */
const maxReconnects = 3;
const reconnectBackoff = { baseMs: 100, maxMs: 1000, jitter: 1 };

export interface FailedAttempts {
  readonly refusals: number;
  readonly connectionErrors: number;
}

/** How long to wait before the request may be sent again; undefined if it must not be. */
export function retryDelay(
  error: unknown,
  repetition: Repetition,
  before: FailedAttempts,
  random: number,
): number | undefined {
  if (error instanceof ApiError) return before.refusals < maxRefusals ? refusalDelay(error) : undefined;
  if (!(error instanceof ConnectionError) || before.connectionErrors >= maxReconnects) return undefined;
  if (error.mayHaveBeenSent && repetition === 'once') return undefined;
  return backoffDelay(reconnectBackoff, before.connectionErrors, random);
}

function refusalDelay(error: ApiError): number | undefined {
  // 429 and 503 come from a server that has not begun the work. Other errors can come when half of it is done, or say
  // what waiting will not change within a request: that the server's cache lags behind, that storage is in trouble.
  if (error.retryAfterSeconds === undefined || (error.status !== 429 && error.status !== 503)) return undefined;
  // An eviction that a budget forbids is answered 429 too: that is a decision to hear about, not a busy server.
  if (hasCause(error, 'DisruptionBudget')) return undefined;
  const delayMs = error.retryAfterSeconds * 1000;
  return delayMs <= maxRetryAfterMs ? delayMs : undefined;
}
