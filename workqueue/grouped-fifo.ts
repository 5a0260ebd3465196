import { Fifo } from '../pkg/fifo/index.ts';

/**
 * Keys in groups. Groups take turns, and within its group a key is first come, first served: thousands of keys of one
 * group delay no other group by more than one key.
 */
export class GroupedFifo<K> {
  readonly #groupOf: (key: K) => string;
  readonly #keys = new Map<string, Fifo<K>>();
  /** Each group that has keys, once. */
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

  /** The next key, of any group but `except`; undefined when there is none. */
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
