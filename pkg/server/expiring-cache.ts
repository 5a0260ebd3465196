import type { Clock } from '../time/index.ts';

/** Remembers answers for a while, and no more than so many: the one least recently used gives way. */
export class ExpiringCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly untilMs: number }>();
  readonly #clock: Clock;
  readonly #maxEntries: number;

  constructor(clock: Clock, maxEntries: number) {
    this.#clock = clock;
    this.#maxEntries = maxEntries;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.untilMs <= this.#clock.monotonic()) return undefined;
    this.#entries.set(key, entry); // a Map keeps the order of insertion: this makes it the youngest
    return entry.value;
  }

  set(key: string, value: V, ttlMs: number): void {
    this.#entries.delete(key);
    if (ttlMs <= 0) return;
    this.#entries.set(key, { value, untilMs: this.#clock.monotonic() + ttlMs });
    if (this.#entries.size <= this.#maxEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
