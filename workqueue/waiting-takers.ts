interface Taker<K> {
  readonly resolve: (key: K | undefined) => void;
  readonly group: Group<K>;
}

interface Group<K> {
  readonly signal: AbortSignal;
  readonly takers: Set<Taker<K>>;
  readonly onAbort: () => void;
}

/**
 * Workers waiting for a key, served in the order they came. A worker's signal lives as long as the process and sees a
 * wait per key: one listener stands for all who wait with the same signal, and goes when none of them waits any more.
 */
export class WaitingTakers<K> {
  readonly #takers = new Set<Taker<K>>();
  readonly #groups = new Map<AbortSignal, Group<K>>();

  get isEmpty(): boolean {
    return this.#takers.size === 0;
  }

  /** Resolves with what `give` or `releaseAll` brings, with undefined when the signal aborts. */
  wait(signal: AbortSignal): Promise<K | undefined> {
    const group = this.#groups.get(signal) ?? this.#createGroup(signal);
    return new Promise((resolve) => {
      const taker = { resolve, group };
      group.takers.add(taker);
      this.#takers.add(taker);
    });
  }

  /** Hands the key to whoever has waited longest. Somebody must be waiting. */
  give(key: K): void {
    for (const taker of this.#takers) {
      this.#settle(taker, key);
      return;
    }
  }

  releaseAll(): void {
    for (const taker of this.#takers) this.#settle(taker, undefined);
  }

  #createGroup(signal: AbortSignal): Group<K> {
    const takers = new Set<Taker<K>>();
    const onAbort = (): void => {
      for (const taker of takers) this.#settle(taker, undefined);
    };
    const group = { signal, takers, onAbort };
    signal.addEventListener('abort', onAbort);
    this.#groups.set(signal, group);
    return group;
  }

  #settle(taker: Taker<K>, key: K | undefined): void {
    const { group } = taker;
    this.#takers.delete(taker);
    group.takers.delete(taker);
    if (group.takers.size === 0) {
      group.signal.removeEventListener('abort', group.onAbort);
      this.#groups.delete(group.signal);
    }
    taker.resolve(key);
  }
}
