import type { ObjectKey } from '../api/index.ts';
import type { Clock } from '../time/index.ts';
import { statusIntervalMs } from './intervals.ts';
import { Pace } from './pace.ts';

export interface StatusOfSync {
  /**
   * Whether the status is about to change again: the sync has created, changed or deleted dependents, or dependents
   * terminate, which they often do together. Their events enqueue the owner.
   */
  readonly expectsMore: boolean;
  /** Whether the server has this status already. */
  readonly isCurrent: boolean;
  /** The minimum time between two status writes of this owner. Default 50 ms. */
  readonly intervalMs?: number | undefined;
}

/**
 * Joins the status writes of an owner. Each costs the server as much as a pod, and an event that enqueues the owner
 * again. A sync that expects more changes leaves the status to a later sync, which has observed them: one write then has
 * all.
 */
export class StatusPace<K = ObjectKey> {
  readonly #pace: Pace<K>;
  /** Owners whose status was left to a later sync. */
  readonly #deferred = new Set<K>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#pace = new Pace<K>(clock);
  }

  /**
   * How long the status write of this sync has to wait; 0 if it is due, or if there is nothing to write. Expected
   * changes defer it once only: pods that are deleted all the time must not keep the status from being written.
   */
  waitMs(key: K, { expectsMore, isCurrent, intervalMs = statusIntervalMs }: StatusOfSync): number {
    if (expectsMore && !this.#deferred.has(key)) {
      this.#deferred.add(key);
      this.#pace.ran(key);
    }
    if (!isCurrent) return this.#pace.waitMs(key, intervalMs);
    if (!expectsMore) this.#deferred.delete(key);
    return 0;
  }

  wrote(key: K): void {
    this.#pace.ran(key);
    this.#deferred.delete(key);
  }

  forget(key: K): void {
    this.#pace.forget(key);
    this.#deferred.delete(key);
  }
}
