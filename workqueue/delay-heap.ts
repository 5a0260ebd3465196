import type { Clock, Timer } from '../pkg/time/index.ts';

interface Entry<K> {
  readonly key: K;
  readyAtMs: number;
  /** Keys due at the same time are released in the order they were added. */
  order: number;
  index: number;
}

/** Keys released at once, a few milliseconds of work. Further keys that are due follow in the next turn of the event loop. */
const RELEASE_BATCH = 5_000;

/** A delay that is not a finite number. NaN at the root of the heap would block every key: no comparison with it is true. */
export class InvalidDelayError extends Error {
  override readonly name = 'InvalidDelayError';
  readonly reason = 'InvalidDelay';

  constructor(key: unknown, delayMs: number) {
    super(`queue ${String(key)} after ${delayMs} ms: the delay is not a finite number`);
  }
}

/**
 * Keys with a delay. Each key is in the heap once, with its earliest time, and one timer serves all keys. `release` gets
 * each key when it is due, earliest first.
 */
export class DelayHeap<K> {
  readonly #clock: Clock;
  readonly #release: (key: K) => void;
  readonly #heap: Entry<K>[] = [];
  readonly #entries = new Map<K, Entry<K>>();
  #orders = 0;
  #timer: { readonly timer: Timer; readonly atMs: number } | undefined;

  constructor(clock: Clock, release: (key: K) => void) {
    this.#clock = clock;
    this.#release = release;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** When the key is due, by the monotonic clock. */
  readyAtMs(key: K): number | undefined {
    return this.#entries.get(key)?.readyAtMs;
  }

  /** Some keys that are due soon, the very next one among them, and the times they are due. */
  next(limit: number): readonly { readonly key: K; readonly readyAtMs: number }[] {
    return this.#heap.slice(0, limit).sort((a, b) => a.readyAtMs - b.readyAtMs); // the top of a heap: nearly the first ones
  }

  /** Throws `InvalidDelayError` on a delay that is not a finite number. */
  add(key: K, delayMs: number): void {
    const readyAtMs = this.#clock.monotonic() + delayMs;
    if (!Number.isFinite(readyAtMs)) throw new InvalidDelayError(key, delayMs);
    const known = this.#entries.get(key);
    if (known === undefined) {
      const entry = { key, readyAtMs, order: this.#orders++, index: this.#heap.length };
      this.#entries.set(key, entry);
      this.#heap.push(entry);
      this.#siftUp(entry);
    } else if (readyAtMs < known.readyAtMs) {
      known.readyAtMs = readyAtMs;
      known.order = this.#orders++;
      this.#siftUp(known);
    }
    this.#arm();
  }

  remove(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#removeEntry(entry);
    if (this.#heap.length === 0) this.#disarm(); // else a timer that comes too early only arms the next
  }

  clear(): void {
    this.#heap.length = 0;
    this.#entries.clear();
    this.#disarm();
  }

  #arm(): void {
    const first = this.#heap[0];
    if (first === undefined) return;
    if (this.#timer !== undefined) {
      if (this.#timer.atMs <= first.readyAtMs) return;
      this.#disarm();
    }
    const delayMs = Math.max(0, Math.ceil(first.readyAtMs - this.#clock.monotonic()));
    const timer = this.#clock.setTimer(delayMs, () => this.#fire());
    this.#timer = { timer, atMs: first.readyAtMs };
  }

  #disarm(): void {
    this.#timer?.timer.cancel();
    this.#timer = undefined;
  }

  #fire(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonic();
    for (let released = 0; released < RELEASE_BATCH; released++) {
      const first = this.#heap[0];
      if (first === undefined || first.readyAtMs > nowMs) break;
      this.#removeEntry(first);
      this.#release(first.key);
    }
    this.#arm();
  }

  #removeEntry(entry: Entry<K>): void {
    this.#entries.delete(entry.key);
    const last = this.#heap.pop();
    if (last === undefined || last === entry) return;
    last.index = entry.index;
    this.#heap[last.index] = last;
    this.#siftUp(last);
    this.#siftDown(last);
  }

  #siftUp(entry: Entry<K>): void {
    while (entry.index > 0) {
      const parent = this.#heap[(entry.index - 1) >> 1];
      if (parent === undefined || !isBefore(entry, parent)) return;
      this.#swap(entry, parent);
    }
  }

  #siftDown(entry: Entry<K>): void {
    for (;;) {
      const left = this.#heap[2 * entry.index + 1];
      const right = this.#heap[2 * entry.index + 2];
      const earliest = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (earliest === undefined || !isBefore(earliest, entry)) return;
      this.#swap(earliest, entry);
    }
  }

  #swap(a: Entry<K>, b: Entry<K>): void {
    [a.index, b.index] = [b.index, a.index];
    this.#heap[a.index] = a;
    this.#heap[b.index] = b;
  }
}

function isBefore<K>(a: Entry<K>, b: Entry<K>): boolean {
  return a.readyAtMs === b.readyAtMs ? a.order < b.order : a.readyAtMs < b.readyAtMs;
}
