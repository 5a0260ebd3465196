import { backoffDelay } from '../time/index.ts';
import { ApiError, ConnectionError, hasCause } from './errors.ts';

/**
 * Whether a request may be sent twice. `safe`: it only reads. `repeatable`: a write without a further effect when it is
 * repeated. `once`: every other write, as a create.
 */
export type Repetition = 'safe' | 'repeatable' | 'once';

/** Retries after error responses, as many as in client-go. */
const maxRefusals = 10;
/** The longest wait. For a longer Retry-After, the caller gets the error. */
const maxRetryAfterMs = 60_000;
/** Retries after connection errors, enough for connections that the server closed. Outages are left to the callers' backoff. */
const maxReconnects = 3;
const reconnectBackoff = { baseMs: 100, maxMs: 1000, jitter: 1 };

export interface FailedAttempts {
  readonly refusals: number;
  readonly connectionErrors: number;
}

/** The delay before the request is sent again. Undefined if it must not be sent again. */
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
  // With 429 and 503, the server has not started the work. With other errors it may be half done, or the wait would be
  // too long for a retry here: a stale watch cache, or unavailable storage.
  if (error.retryAfterSeconds === undefined || (error.status !== 429 && error.status !== 503)) return undefined;
  // An eviction that a PodDisruptionBudget forbids is a 429 too. The caller must know about it.
  if (hasCause(error, 'DisruptionBudget')) return undefined;
  const delayMs = error.retryAfterSeconds * 1000;
  return delayMs <= maxRetryAfterMs ? delayMs : undefined;
}
