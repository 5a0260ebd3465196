import { Fifo } from './fifo.ts';

/**
 * Keys in groups. Groups take turns, and within its group a key is first come, first served: thousands of keys of one
 * group delay no other group by more than one key.
 */
export class GroupedFifo<K> {
  readonly #groupOf: (key: K) => string;
  /** Groups that have keys; the next one to be served comes first. */
  readonly #groups = new Map<string, Fifo<K>>();
  #length = 0;

  constructor(groupOf: (key: K) => string) {
    this.#groupOf = groupOf;
  }

  get length(): number {
    return this.#length;
  }

  push(key: K): void {
    const group = this.#groupOf(key);
    let keys = this.#groups.get(group);
    if (keys === undefined) {
      keys = new Fifo();
      this.#groups.set(group, keys);
    }
    keys.push(key);
    this.#length++;
  }

  /** The next key, of any group but `except`; undefined when there is none. */
  shift(except?: string): K | undefined {
    for (const [group, keys] of this.#groups) {
      if (group === except) continue;
      if (keys.length === 1 || this.#groups.size > 1) this.#groups.delete(group);
      const key = keys.shift();
      if (keys.length > 0) this.#groups.set(group, keys); // behind the others
      this.#length--;
      return key;
    }
    return undefined;
  }
}
