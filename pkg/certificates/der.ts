/** The few ASN.1 types that an X.509 certificate is made of, in their DER form. */

function encode(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), encodeLength(content.length), content]);
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.of(0x80 + bytes.length, ...bytes);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => encode(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => encode(0x31, ...parts);
export const octetString = (content: Uint8Array): Buffer => encode(0x04, content);
export const utf8String = (text: string): Buffer => encode(0x0c, Buffer.from(text, 'utf8'));
export const boolean = (value: boolean): Buffer => encode(0x01, Buffer.of(value ? 0xff : 0));

/** A context-specific tag around further elements. */
export const explicit = (tag: number, ...parts: readonly Uint8Array[]): Buffer => encode(0xa0 + tag, ...parts);
/** A context-specific tag in place of a primitive's own. */
export const implicit = (tag: number, content: Uint8Array): Buffer => encode(0x80 + tag, content);

/** An unsigned integer; a leading zero keeps a set top bit from reading as a sign. */
export function integer(magnitude: Uint8Array): Buffer {
  const first = magnitude.findIndex((byte) => byte !== 0);
  const minimal = first < 0 ? Buffer.of(0) : Buffer.from(magnitude.subarray(first));
  return (minimal[0] ?? 0) >= 0x80 ? encode(0x02, Buffer.of(0), minimal) : encode(0x02, minimal);
}

export function bitString(content: Uint8Array, unusedBits = 0): Buffer {
  return encode(0x03, Buffer.of(unusedBits), content);
}

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const septets = [arc % 128];
    for (let high = Math.floor(arc / 128); high > 0; high = Math.floor(high / 128))
      septets.unshift(0x80 + (high % 128));
    bytes.push(...septets);
  }
  return encode(0x06, Buffer.from(bytes));
}

/** X.509 writes years up to 2049 with two digits and later ones with four. */
export function time(atMs: number): Buffer {
  const at = new Date(atMs);
  const digits = at.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return at.getUTCFullYear() < 2050
    ? encode(0x17, Buffer.from(digits.slice(2), 'ascii'))
    : encode(0x18, Buffer.from(digits, 'ascii'));
}
