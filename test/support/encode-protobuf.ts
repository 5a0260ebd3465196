import type { Span } from '../../pkg/protobuf/index.ts';

/** Encodes a field: text and messages with their length, numbers as varints. */
export function field(number: number, value: string | Buffer | bigint): Buffer {
  if (typeof value === 'bigint') return Buffer.concat([varint(BigInt(number << 3)), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(BigInt((number << 3) | 2)), varint(BigInt(bytes.length)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return Buffer.from([...bytes, Number(rest)]);
}

export const message = (...fields: Buffer[]): Buffer => Buffer.concat(fields);
export const entry = (key: string, value: string | Buffer): Buffer => message(field(1, key), field(2, value));
export const spanOf = (bytes: Buffer): Span => ({ bytes, start: 0, end: bytes.length });

/** An object as servers and clients send it, with its type. */
export const envelope = (apiVersion: string, kind: string, content: Buffer): Buffer =>
  message(Buffer.from('k8s\0'), field(1, message(field(1, apiVersion), field(2, kind))), field(2, content));

/** An event of a watch, with its length before it. */
export function watchFrame(type: string, object: Buffer): Buffer {
  const event = message(field(1, type), field(2, field(1, object)));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}
