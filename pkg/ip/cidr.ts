import { parseIp, type IpFamily } from './address.ts';

/** A range of addresses. Two ranges are equal if their texts are. */
export interface Cidr {
  readonly family: IpFamily;
  /** The first address, as a number. */
  readonly first: bigint;
  /** The last address, as a number. */
  readonly last: bigint;
  /** The length of the prefix, in bits. */
  readonly prefix: number;
  /** The canonical form. */
  readonly text: string;
}

/** The number of bits of an address. */
export function widthOf(family: IpFamily): number {
  return family === 'IPv4' ? 32 : 128;
}

/** Parses `10.0.0.0/24`. Bits behind the prefix are cleared. Undefined if it is not a CIDR. */
export function parseCidr(text: string): Cidr | undefined {
  const [, host = '', digits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseIp(host);
  if (address === undefined) return undefined;
  // `::ffff:10.0.0.0` is an IPv4 address, but its prefix counts from the start of the IPv6 address.
  const prefix = Number(digits) - (address.family === 'IPv4' && host.includes(':') ? 96 : 0);
  if (prefix < 0 || prefix > widthOf(address.family)) return undefined;
  return cidrOf(address.family, addressNumber(address.text, address.family), prefix);
}

/** The range of this prefix that has the address. */
export function cidrOf(family: IpFamily, address: bigint, prefix: number): Cidr {
  const hostBits = BigInt(widthOf(family) - prefix);
  const first = (address >> hostBits) << hostBits;
  const last = first + (1n << hostBits) - 1n;
  return { family, first, last, prefix, text: `${formatAddress(family, first)}/${prefix}` };
}

export function areOverlapping(a: Cidr, b: Cidr): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last;
}

/** An address in canonical form as a number. */
export function addressNumber(canonical: string, family: IpFamily): bigint {
  if (family === 'IPv4') return canonical.split('.').reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const [head = '', tail] = canonical.split('::');
  const groupsOf = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const left = groupsOf(head);
  const right = groupsOf(tail ?? '');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

function formatAddress(family: IpFamily, address: bigint): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => ((address >> BigInt(112 - 16 * i)) & 65_535n).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1); // compresses the longest run of zeros
}
