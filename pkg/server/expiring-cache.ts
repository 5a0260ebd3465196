import { LRUCache } from 'lru-cache';

import type { Clock } from '../time/index.ts';

/** Keeps answers until their time to live is over, by the given clock. When full, it drops the least recently used one. */
export class ExpiringCache<V extends object | number> {
  readonly #entries: LRUCache<string, V>;

  constructor(clock: Clock, maxEntries: number) {
    // lru-cache takes a start at 0 for an entry that never expires, and the clock of a test starts at 0.
    const perf = { now: () => clock.monotonic() + 1 };
    // Every entry has the size 1: with `maxSize` the cache grows with its entries, with `max` it takes 1.5 MB at start.
    const limits = { maxSize: maxEntries, sizeCalculation: () => 1 };
    this.#entries = new LRUCache({ ...limits, perf, ttl: 1, ttlResolution: 0 });
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: V, ttlMs: number): void {
    // lru-cache takes a time to live of 0 for no limit.
    if (ttlMs <= 0) this.#entries.delete(key);
    else this.#entries.set(key, value, { ttl: ttlMs });
  }
}
