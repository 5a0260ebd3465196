import type { ObjectKey } from '../../pkg/api/index.ts';

/**
 * Volumes that a sync of a claim or an operation is about to write. Another claim does not find them, and their own sync
 * waits: both would end in a conflict.
 */
export class BusyVolumes {
  readonly #held = new Map<ObjectKey, boolean>();
  readonly #enqueue: (key: ObjectKey) => void;

  constructor(enqueue: (key: ObjectKey) => void) {
    this.#enqueue = enqueue;
  }

  has(key: ObjectKey): boolean {
    return this.#held.has(key);
  }

  /** Whether the sync of a volume has to wait. It is enqueued at the end of the other work then. */
  defer(key: ObjectKey): boolean {
    if (!this.#held.has(key)) return false;
    this.#held.set(key, true);
    return true;
  }

  async during<T>(key: ObjectKey, work: () => Promise<T>): Promise<T> {
    if (this.#held.has(key)) return work(); // two claims name the same volume: the server lets one of them have it
    this.#held.set(key, false);
    try {
      return await work();
    } finally {
      const isDeferred = this.#held.get(key) === true;
      this.#held.delete(key);
      if (isDeferred) this.#enqueue(key);
    }
  }
}
