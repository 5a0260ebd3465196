import { abortReason } from './abort.ts';
import type { Clock } from './clock.ts';

/** An operation took longer than its limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
  readonly reason = 'TimeLimit';

  constructor(limitMs: number) {
    super(`no answer within ${limitMs / 1000}s`);
  }
}

export interface TimeLimit {
  readonly clock: Clock;
  readonly limitMs: number;
}

/**
 * Runs an operation with its own signal, which aborts after the limit or with `signal`. On an abort, rejects at once with
 * the reason, even if the operation ignores its signal. Leaves no timer and no listener behind.
 */
export async function withTimeLimit<T>(
  { clock, limitMs }: TimeLimit,
  operation: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const aborted = Promise.withResolvers<never>();
  controller.signal.addEventListener('abort', () => aborted.reject(abortReason(controller.signal)), { once: true });
  const passOn = (): void => controller.abort(signal.reason);
  signal.addEventListener('abort', passOn, { once: true });
  const timer = clock.setTimer(limitMs, () => controller.abort(new TimeLimitError(limitMs)));
  try {
    return await Promise.race([operation(controller.signal), aborted.promise]);
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', passOn);
  }
}
