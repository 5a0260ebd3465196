/**
 * Hands out pod addresses, each to one pod at a time. The space is walked round before an address is used again, as
 * long after its last use as possible: consumers that are slow to notice a deletion must not meet its successor.
 */
export class AddressPool {
  readonly #used = new Set<number>();
  #last = 0;

  /** A number that nobody holds, until `release`. */
  take(): number {
    if (this.#used.size >= poolSize) throw new Error(`all ${poolSize} pod addresses are in use`);
    do this.#last = (this.#last % poolSize) + 1;
    while (this.#used.has(this.#last));
    this.#used.add(this.#last);
    return this.#last;
  }

  /** Marks an address as held that an earlier run has given away. Others than the pool's own need no marking. */
  reserve(ip: string): number | undefined {
    const index = podIndexOf(ip);
    if (index !== undefined) this.#used.add(index);
    return index;
  }

  release(index: number): void {
    this.#used.delete(index);
  }
}

// 10.128.0.0/9 for pods and 172.16.0.0/12 for nodes: neither meets the service range of any usual cluster. The last
// byte stays within 1 to 254, because 0 and 255 look like networks and broadcasts to careful readers.
const perBlock = 254;
const poolSize = 128 * 256 * perBlock;

export function podIPv4(index: number): string {
  const block = Math.floor((index - 1) / perBlock);
  return `10.${128 + (block >> 8)}.${block & 255}.${((index - 1) % perBlock) + 1}`;
}

export function podIPv6(index: number): string {
  return `fd00:10:128::${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}`;
}

/** The address of the machine with this number, counted from 0. */
export function nodeIPv4(index: number): string {
  const block = Math.floor(index / perBlock);
  return `172.${16 + (block >> 8)}.${block & 255}.${(index % perBlock) + 1}`;
}

function podIndexOf(ip: string): number | undefined {
  const [a, b, c, d, ...rest] = ip.split('.').map(Number);
  if (a !== 10 || b === undefined || c === undefined || d === undefined || rest.length > 0) return undefined;
  if (!(b >= 128 && b <= 255 && c >= 0 && c <= 255 && d >= 1 && d <= perBlock)) return undefined;
  return ((b - 128) * 256 + c) * perBlock + d;
}
