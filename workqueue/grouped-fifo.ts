import { Fifo } from '../pkg/fifo/index.ts';

/**
 * Keys in groups. Groups take turns, and each group is first in, first out. So thousands of keys of one group delay
 * another group by one key only.
 */
export class GroupedFifo<K> {
  readonly #groupOf: (key: K) => string;
  readonly #keys = new Map<string, Fifo<K>>();
  /** The groups that have keys, each once. */
  readonly #turns = new Fifo<string>();
  #length = 0;

  constructor(groupOf: (key: K) => string) {
    this.#groupOf = groupOf;
  }

  get length(): number {
    return this.#length;
  }

  push(key: K): void {
    const group = this.#groupOf(key);
    let keys = this.#keys.get(group);
    if (keys === undefined) {
      keys = new Fifo();
      this.#keys.set(group, keys);
      this.#turns.push(group);
    }
    keys.push(key);
    this.#length++;
  }

  /** Removes the next key, skipping the group `except`. Returns undefined when there is no such key. */
  shift(except?: string): K | undefined {
    const group = this.#nextGroup(except);
    const keys = group === undefined ? undefined : this.#keys.get(group);
    if (group === undefined || keys === undefined) return undefined;
    const key = keys.shift();
    if (keys.length > 0) this.#turns.push(group);
    else this.#keys.delete(group);
    this.#length--;
    return key;
  }

  #nextGroup(except: string | undefined): string | undefined {
    const first = this.#turns.shift();
    if (first === undefined || first !== except) return first;
    const second = this.#turns.shift();
    this.#turns.push(first);
    return second;
  }
}
