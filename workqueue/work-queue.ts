/** Times are relative to now. */
export interface QueueInspection<K> {
  readonly name: string;
  /** Keys added since the start, not counting keys that were already waiting. */
  readonly added: number;
  readonly waiting: readonly K[];
  readonly waitingCount: number;
  /** Nearly in the order in which they are due. */
  readonly delayed: readonly { readonly key: K; readonly dueInMs: number; readonly retries: number }[];
  readonly delayedCount: number;
  readonly running: readonly { readonly key: K; readonly forMs: number }[];
}

export interface KeyPlace {
  readonly state: 'waiting' | 'delayed' | 'running';
  /** Until the key is due, or since a worker has it; 0 while it waits. */
  readonly ms: number;
  /** Failures in a row. */
  readonly retries: number;
}

/**
 * Keys to be processed. A key waits in the queue only once, however often it is added.
 *
 * A key added while a worker processes it is queued again after `done`. Two workers never process the same key at once.
 * The order is first in, first out, within each group if there are groups. After `shutDown`, adds are ignored, and `take`
 * returns the remaining keys, then undefined.
 */
export interface WorkQueue<K> {
  /** Keys that wait for a worker. Keys in progress and delayed keys do not count. */
  readonly length: number;
  add(key: K): void;
  /**
   * Adds the key after a delay. If a key has several delays, the earliest counts. Throws `InvalidDelayError` on a delay
   * that is not a finite number.
   */
  addAfter(key: K, delayMs: number): void;
  /** Cancels the delayed add of a key, if there is one: for a key whose object is gone. */
  cancelDelay(key: K): void;
  /** Adds the key after the delay of the rate limiter, which grows until `forget`. Throws like `addAfter`. */
  addRateLimited(key: K): void;
  forget(key: K): void;
  numRequeues(key: K): number;
  /** Waits for the next key. Resolves with undefined when the queue is shut down and empty, or the signal aborts. */
  take(signal: AbortSignal): Promise<K | undefined>;
  /**
   * For one worker in addition to the `workers` that call `take`. While one group occupies all of them, resolves with the
   * next key of another group. Without it, a slow group would block all others.
   */
  takeSpare(workers: number, signal: AbortSignal): Promise<K | undefined>;
  /** Must be called for every key taken. */
  done(key: K): void;
  /** What the queue holds now: the first `limit` keys of each list, and how many there are. For people who look. */
  inspect(limit: number): QueueInspection<K>;
  /** Where a key is now. For people who look. */
  find(key: K): KeyPlace | undefined;
  /** With `drain`, resolves when every key taken is done. Without it, resolves at once. */
  shutDown(options?: { readonly drain?: boolean }): Promise<void>;
}
