import { areOverlapping, cidrOf, widthOf, type Cidr } from '../../pkg/ip/index.ts';

/** The metrics of a set. */
export interface CidrSetObserver {
  allocated(cluster: Cidr, usage: number): void;
  released(cluster: Cidr, usage: number): void;
  /** A free block was found after this many blocks in use. */
  found(cluster: Cidr, tries: number): void;
}

/**
 * The blocks of one size in a cluster CIDR, and how often each is in use. Nodes of one cluster never share a block, but
 * ranges of other writers may overlap: a block is free again when the last of them is released.
 */
export class CidrSet {
  readonly cluster: Cidr;
  /** The number of blocks. */
  readonly size: number;
  readonly #prefix: number;
  readonly #observer: CidrSetObserver;
  readonly #users = new Map<number, number>();
  /** Blocks are allocated in turn: a released block is reused as late as possible. */
  #next = 0;

  constructor(cluster: Cidr, prefix: number, observer: CidrSetObserver) {
    this.cluster = cluster;
    this.size = 2 ** (prefix - cluster.prefix);
    this.#prefix = prefix;
    this.#observer = observer;
  }

  /** Allocates the next free block. Undefined if none is left. */
  allocate(): Cidr | undefined {
    if (this.#users.size >= this.size) return undefined;
    let tries = 0;
    let block = this.#next;
    for (; this.#users.has(block); tries += 1) block = (block + 1) % this.size;
    this.#next = (block + 1) % this.size;
    this.#users.set(block, 1);
    this.#observer.allocated(this.cluster, this.#usage());
    this.#observer.found(this.cluster, tries);
    return cidrOf(this.cluster.family, this.cluster.first + BigInt(block) * this.#blockSize(), this.#prefix);
  }

  /** Marks all blocks of a range as in use once more. False if the range is outside the cluster CIDR. */
  occupy(range: Cidr): boolean {
    const isKnown = this.#forEachBlock(range, (block) => {
      const users = this.#users.get(block) ?? 0;
      this.#users.set(block, users + 1);
      if (users === 0) this.#observer.allocated(this.cluster, this.#usage());
    });
    return isKnown;
  }

  release(range: Cidr): void {
    this.#forEachBlock(range, (block) => {
      const users = this.#users.get(block) ?? 0;
      if (users > 1) this.#users.set(block, users - 1);
      else if (this.#users.delete(block)) this.#observer.released(this.cluster, this.#usage());
    });
  }

  #forEachBlock(range: Cidr, visit: (block: number) => void): boolean {
    if (!areOverlapping(range, this.cluster)) return false;
    const blockOf = (address: bigint): number => Number((address - this.cluster.first) / this.#blockSize());
    const begin = range.first <= this.cluster.first ? 0 : blockOf(range.first);
    const end = range.last >= this.cluster.last ? this.size - 1 : blockOf(range.last);
    for (let block = begin; block <= end; block += 1) visit(block);
    return true;
  }

  #blockSize(): bigint {
    return 1n << BigInt(widthOf(this.cluster.family) - this.#prefix);
  }

  #usage(): number {
    return this.#users.size / this.size;
  }
}
