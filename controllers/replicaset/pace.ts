import type { ObjectKey } from '../../pkg/api/index.ts';
import type { Clock } from '../../pkg/time/index.ts';

/**
 * Keeps a distance between two runs of the same thing for one owner. While a thousand pods become ready, each of them
 * wakes their owner: without a pause it would count all thousand for every single one, and write as many statuses, each
 * of which wakes the Deployment above. The first run after a quiet moment is never delayed.
 */
export class Pace {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #lastRunMs = new Map<ObjectKey, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** How long to wait before the owner's next run; 0 if it may run now. */
  waitMs(owner: ObjectKey, minIntervalMs: number): number {
    const lastMs = this.#lastRunMs.get(owner);
    return lastMs === undefined ? 0 : Math.max(0, lastMs + minIntervalMs - this.#clock.monotonic());
  }

  ran(owner: ObjectKey): void {
    this.#lastRunMs.set(owner, this.#clock.monotonic());
  }

  forget(owner: ObjectKey): void {
    this.#lastRunMs.delete(owner);
  }
}

/** Between two looks at all pods of an owner: nothing for small ones, a tenth of a second from a thousand pods on. */
export function reconcileIntervalMs(pods: number): number {
  return Math.min(100, pods / 10);
}

/** Between two status writes of an owner: pods that start together become ready together, within some 10 ms. */
export const statusIntervalMs = 50;
