import type { Clock } from '../time/index.ts';

/**
 * The reason with which a signal asks for a clean stop: take no new work, but let what is running finish within
 * `graceMs`. Any other reason means: stop at once, as after a lost lease, when another process may already be at work.
 */
export class GracefulStop extends Error {
  override readonly name = 'GracefulStop';
  readonly reason = 'GracefulStop';
  readonly graceMs: number;
  /** Ends the grace when it aborts: with the lease, the right to finish is lost. */
  readonly leaseLost: AbortSignal | undefined;

  constructor(graceMs: number, leaseLost?: AbortSignal) {
    super('stopping');
    this.graceMs = graceMs;
    this.leaseLost = leaseLost;
  }
}

export interface WorkInProgress {
  /** Aborts when running work has to stop: with `signal`, or when the grace is over if that asks for a clean stop. */
  readonly signal: AbortSignal;
  /** Frees what the wait holds. Call when no work is left. */
  release(): void;
}

/** Lets running work outlive `signal` by the grace that its reason grants. */
export function finishBeforeStop(signal: AbortSignal, clock: Clock): WorkInProgress {
  const work = new AbortController();
  let cancel = (): void => {};
  const stop = (): void => {
    const reason: unknown = signal.reason;
    if (!(reason instanceof GracefulStop) || reason.graceMs <= 0) return work.abort(reason);
    const { graceMs, leaseLost } = reason;
    if (leaseLost?.aborted === true) return work.abort(leaseLost.reason);
    const timer = clock.setTimer(graceMs, () => work.abort(reason));
    const onLost = (): void => work.abort(leaseLost?.reason);
    leaseLost?.addEventListener('abort', onLost, { once: true });
    cancel = () => {
      timer.cancel();
      leaseLost?.removeEventListener('abort', onLost);
    };
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return {
    signal: work.signal,
    release() {
      signal.removeEventListener('abort', stop);
      cancel();
    },
  };
}
