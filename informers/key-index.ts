import type { ObjectKey } from '../pkg/api/index.ts';

/**
 * Most values lead to one key or a few: the pods of a node, the ReplicaSets of a Deployment. A `Set` for each would take
 * more memory than the keys in it. So one key is stored as it is, and a few share an array.
 */
type Bucket = ObjectKey | ObjectKey[] | Set<ObjectKey>;

/** With more keys, searching an array costs more than the memory of a `Set`. */
const largestArray = 16;

/** From a value to the keys of the objects that have it. */
export class KeyIndex {
  readonly #buckets = new Map<string, Bucket>();

  /** How many values lead to something. */
  get size(): number {
    return this.#buckets.size;
  }

  forEach(value: string, visit: (key: ObjectKey) => void): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return;
    if (typeof bucket === 'string') visit(bucket);
    else bucket.forEach((key) => visit(key));
  }

  /** The object under this key had the values `before` and now has the values `after`. */
  move(key: ObjectKey, before: readonly string[], after: readonly string[]): void {
    if (areSame(before, after)) return;
    for (const value of before) if (!after.includes(value)) this.#remove(value, key);
    for (const value of after) if (!before.includes(value)) this.#add(value, key);
  }

  #add(value: string, key: ObjectKey): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) this.#buckets.set(value, key);
    else if (typeof bucket === 'string') {
      if (bucket !== key) this.#buckets.set(value, [bucket, key]);
    } else if (bucket instanceof Set) bucket.add(key);
    else if (bucket.includes(key)) return;
    else if (bucket.length < largestArray) bucket.push(key);
    else this.#buckets.set(value, new Set(bucket).add(key));
  }

  #remove(value: string, key: ObjectKey): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return;
    if (typeof bucket === 'string') {
      if (bucket === key) this.#buckets.delete(value);
      return;
    }
    if (bucket instanceof Set) bucket.delete(key);
    else {
      const position = bucket.indexOf(key);
      if (position >= 0) bucket.splice(position, 1);
    }
    // An empty bucket would be a leak: values such as uids and node names are never used again.
    if ((bucket instanceof Set ? bucket.size : bucket.length) === 0) this.#buckets.delete(value);
  }
}

function areSame(before: readonly string[], after: readonly string[]): boolean {
  return before.length === after.length && before.every((value, position) => value === after[position]);
}
