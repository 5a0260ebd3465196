/**
 * Allocates pod addresses. An address is reused as late as possible: consumers that are slow to observe a deletion must
 * not send traffic to another pod.
 */
export class AddressPool {
  readonly #used = new Set<number>();
  #last = 0;

  /** Takes a free number until `release`. Throws `NoAddressLeftError`. */
  take(): number {
    if (this.#used.size >= poolSize) throw new NoAddressLeftError(`all ${poolSize} pod addresses are in use`);
    do this.#last = (this.#last % poolSize) + 1;
    while (this.#used.has(this.#last));
    this.#used.add(this.#last);
    return this.#last;
  }

  /** Marks an address of an earlier run as in use. Addresses outside the pool are ignored. */
  reserve(ip: string): number | undefined {
    const index = podIndexOf(ip);
    if (index !== undefined) this.#used.add(index);
    return index;
  }

  release(index: number): void {
    this.#used.delete(index);
  }
}

// 10.128.0.0/9 for pods and 172.16.0.0/12 for nodes: neither overlaps with the usual Service ranges. The last byte is 1
// to 254, because 0 and 255 may be taken for network and broadcast addresses.
const perBlock = 254;
const poolSize = 128 * 256 * perBlock;

export function podIPv4(index: number): string {
  const block = Math.floor((index - 1) / perBlock);
  return `10.${128 + (block >> 8)}.${block & 255}.${((index - 1) % perBlock) + 1}`;
}

export function podIPv6(index: number): string {
  return `fd00:10:128::${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}`;
}

/** The address of the machine with this index. */
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

/** Every address of the pool belongs to a pod. */
class NoAddressLeftError extends Error {
  override readonly name = 'NoAddressLeftError';
  readonly reason = 'NoAddressLeft';
}
