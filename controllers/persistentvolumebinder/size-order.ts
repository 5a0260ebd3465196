import type { ObjectKey } from '../../pkg/api/index.ts';

interface Group {
  readonly size: bigint;
  readonly keys: Set<ObjectKey>;
}

/** Keys ordered by size; those of one size in the order in which they were added. */
export class SizeOrder {
  /** Ascending. Clusters have few sizes: to insert into an array is cheap. */
  readonly #groups: Group[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(key: ObjectKey, size: bigint): void {
    const place = this.#placeOf(size);
    const group = this.#groups[place];
    if (group?.size !== size) this.#groups.splice(place, 0, { size, keys: new Set([key]) });
    else if (group.keys.has(key)) return;
    else group.keys.add(key);
    this.#count++;
  }

  delete(key: ObjectKey, size: bigint): void {
    const place = this.#placeOf(size);
    const group = this.#groups[place];
    if (group?.size !== size || !group.keys.delete(key)) return;
    this.#count--;
    if (group.keys.size === 0) this.#groups.splice(place, 1);
  }

  /** The first key of at least this size that fits. */
  smallest(minimum: bigint, isFit: (key: ObjectKey) => boolean): ObjectKey | undefined {
    for (let place = this.#placeOf(minimum); place < this.#groups.length; place++) {
      for (const key of this.#groups[place]?.keys ?? []) {
        if (isFit(key)) return key;
      }
    }
    return undefined;
  }

  /** The place of the first group of at least this size. */
  #placeOf(size: bigint): number {
    let [low, high] = [0, this.#groups.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#groups[middle]?.size ?? size) < size) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
