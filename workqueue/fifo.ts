const CHUNK_SIZE = 1024;

interface Chunk<T> {
  readonly items: (T | undefined)[];
  next: Chunk<T> | undefined;
}

/**
 * First in, first out, in constant time and without moving items: `Array.shift` on hundreds of thousands of keys copies
 * them all for each one taken. Chunks are dropped as they are emptied, so a burst leaves no memory behind.
 */
export class Fifo<T> {
  #head: Chunk<T> = newChunk();
  #tail: Chunk<T> = this.#head;
  #headIndex = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: T): void {
    if (this.#tail.items.length === CHUNK_SIZE) {
      const chunk = newChunk<T>();
      this.#tail.next = chunk;
      this.#tail = chunk;
    }
    this.#tail.items.push(item);
    this.#length++;
  }

  /** The oldest item, or undefined when there is none. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#head.items[this.#headIndex];
    this.#head.items[this.#headIndex] = undefined;
    this.#headIndex++;
    this.#length--;
    if (this.#length === 0 || this.#headIndex === CHUNK_SIZE) this.#dropChunk();
    return item;
  }

  #dropChunk(): void {
    this.#headIndex = 0;
    if (this.#head.next !== undefined) this.#head = this.#head.next;
    else this.#head.items.length = 0;
  }
}

function newChunk<T>(): Chunk<T> {
  return { items: [], next: undefined };
}
