import { Fifo } from '../../pkg/fifo/index.ts';

/**
 * Limits how many operations run at the same time. The others wait, first come, first served. A metrics API that does not
 * answer then holds only so many of the process's requests in flight, which all controllers share.
 */
export class Places {
  readonly #waiting = new Fifo<() => void>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  async run<T>(operation: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise; // places are passed on also after an abort, so that this ends
    }
    try {
      signal.throwIfAborted();
      return await operation();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
