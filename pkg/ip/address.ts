import { isIPv6 } from 'node:net';

export type IpFamily = 'IPv4' | 'IPv6';

export interface IpAddress {
  readonly family: IpFamily;
  /** The canonical form: no leading zeros, compressed IPv6, lower case. */
  readonly text: string;
}

/** Parses an address, also in the non-canonical forms of very old objects. Undefined if it is not an IP address. */
export function parseIp(text: string): IpAddress | undefined {
  const bytes = ipv4.exec(text);
  if (bytes !== null) return ipv4Of(text, bytes);
  if (text.includes('%') || !isIPv6(text)) return undefined;
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical);
  if (mapped === null) return { family: 'IPv6', text: canonical };
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return { family: 'IPv4', text: `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}` };
}

const ipv4 = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/;

function ipv4Of(text: string, [, ...bytes]: RegExpExecArray): IpAddress | undefined {
  let canonical = true;
  for (const byte of bytes) {
    if (Number(byte) > 255) return undefined;
    if (byte.length > 1 && byte.startsWith('0')) canonical = false;
  }
  return { family: 'IPv4', text: canonical ? text : bytes.map(Number).join('.') };
}
