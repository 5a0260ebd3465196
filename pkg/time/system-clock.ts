import { abortReason } from './abort.ts';
import type { Clock, Timer } from './clock.ts';

/** Node fires a timer at once when its delay exceeds 31 bits. Longer delays are split into several timers. */
const longestTimeoutMs = 2 ** 31 - 1;

/** The system time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(systemClock, ms, signal),
  setTimer(ms, callback) {
    const timer = new SystemTimer(callback);
    timer.start(ms);
    return timer;
  },
};

class SystemTimer implements Timer {
  readonly #callback: () => void;
  #timeout: NodeJS.Timeout | undefined;

  constructor(callback: () => void) {
    this.#callback = callback;
  }

  start(ms: number): void {
    this.#timeout =
      ms <= longestTimeoutMs
        ? setTimeout(this.#callback, ms)
        : setTimeout(() => this.start(ms - longestTimeoutMs), longestTimeoutMs);
  }

  cancel(): void {
    clearTimeout(this.#timeout);
  }
}

/**
 * Waits on any clock. A signal may live as long as the process, so the listener is removed however the sleep ends.
 */
export function sleep(clock: Pick<Clock, 'setTimer'>, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(abortReason(signal));
    };
    const timer = clock.setTimer(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
