import type { ObjectKey } from '../api/index.ts';
import type { Clock } from '../time/index.ts';

/**
 * Keeps a minimum interval between two runs for the same key. While a thousand pods become ready, each event enqueues
 * their owner: without the interval, the owner would count a thousand pods per event and write as many statuses, each
 * of which enqueues the Deployment above. The first run after a quiet time is never delayed.
 */
export class Pace<K = ObjectKey> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #lastRunMs = new Map<K, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** How long to wait before the next run of the key; 0 if it may run now. */
  waitMs(key: K, minIntervalMs: number): number {
    const lastMs = this.#lastRunMs.get(key);
    return lastMs === undefined ? 0 : Math.max(0, lastMs + minIntervalMs - this.#clock.monotonic());
  }

  ran(key: K): void {
    this.#lastRunMs.set(key, this.#clock.monotonic());
  }

  forget(key: K): void {
    this.#lastRunMs.delete(key);
  }
}
