import { abortReason } from '../pkg/time/index.ts';

/** Opens once and stays open; any number may wait for it. A wait that ends leaves nothing behind on its signal. */
export class Latch {
  #isOpen = false;
  readonly #waiting = new Set<() => void>();

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }

  /** Rejects with the signal's reason when it aborts first. */
  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isOpen) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = (): void => reject(abortReason(signal));
    signal.addEventListener('abort', abort, { once: true });
    this.#waiting.add(resolve);
    try {
      await promise;
    } finally {
      this.#waiting.delete(resolve);
      signal.removeEventListener('abort', abort);
    }
  }
}
