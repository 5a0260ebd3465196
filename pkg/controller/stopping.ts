import type { Clock } from '../time/index.ts';

/**
 * The abort reason of a clean stop: workers take no new keys, and running reconciles may finish within `graceMs`. Any
 * other reason means stop at once. For example, after the lease is lost another process may already be the leader.
 */
export class GracefulStop extends Error {
  override readonly name = 'GracefulStop';
  readonly reason = 'GracefulStop';
  readonly graceMs: number;
  /** Ends the grace period when it aborts: without the lease, running work must not go on. */
  readonly leaseLost: AbortSignal | undefined;

  constructor(graceMs: number, leaseLost?: AbortSignal) {
    super('stopping');
    this.graceMs = graceMs;
    this.leaseLost = leaseLost;
  }
}

export interface WorkInProgress {
  /** Aborts when running work must stop: at once with `signal`, or at the end of the grace period of a clean stop. */
  readonly signal: AbortSignal;
  /** Removes the timer and the listeners. Call it when all work has ended. */
  release(): void;
}

/** Lets running work go on after `signal` aborts, for the grace period that its reason grants. */
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
