/**
 * Keys to be worked on, each queued once however often it is added.
 *
 * A key added while a worker holds it runs again after `done`; no two workers ever hold the same key. Order is first
 * come, first served, within each group if keys are in groups. After `shutDown`, adds are ignored and `take` gives what is left, then undefined.
 */
export interface WorkQueue<K> {
  /** Keys waiting for a worker; those being worked on or delayed do not count. */
  readonly length: number;
  add(key: K): void;
  /**
   * Adds the key after a delay; of several delays for one key, the earliest counts. Throws `InvalidDelayError` on a
   * delay that is not a finite number.
   */
  addAfter(key: K, delayMs: number): void;
  /** Adds the key when its rate limiter allows: later each time, until `forget`. Throws as `addAfter` does. */
  addRateLimited(key: K): void;
  forget(key: K): void;
  numRequeues(key: K): number;
  /** The next key, once there is one; undefined once the queue is shut down and empty, or the signal aborts. */
  take(signal: AbortSignal): Promise<K | undefined>;
  /**
   * For one worker more than the `workers` that call `take`: the next key of another group, while one group holds all of
   * those. A group whose keys take long would otherwise keep all others waiting.
   */
  takeSpare(workers: number, signal: AbortSignal): Promise<K | undefined>;
  /** Must follow every key taken. */
  done(key: K): void;
  /** With `drain`, resolves when every key taken is done; else at once. */
  shutDown(options?: { readonly drain?: boolean }): Promise<void>;
}
