import type { ObjectKey } from '../../pkg/api/index.ts';
import type { Clock } from '../../pkg/time/index.ts';

/**
 * The shortest time between two status writes of one owner. While a thousand pods become ready, every one of them
 * changes the counts; written one by one, the status of a large set would cost the server more than its pods do, and
 * every write wakes the Deployment above. The first change after a quiet moment is written at once.
 */
const minIntervalMs = 100;

export class StatusPace {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #lastWriteMs = new Map<ObjectKey, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** How long to wait before the owner's next status write; 0 if it may go out now. */
  waitMs(owner: ObjectKey): number {
    const lastMs = this.#lastWriteMs.get(owner);
    return lastMs === undefined ? 0 : Math.max(0, lastMs + minIntervalMs - this.#clock.monotonic());
  }

  wrote(owner: ObjectKey): void {
    this.#lastWriteMs.set(owner, this.#clock.monotonic());
  }

  forget(owner: ObjectKey): void {
    this.#lastWriteMs.delete(owner);
  }
}
