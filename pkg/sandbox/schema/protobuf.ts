import { ExactInteger, parseJson } from '../../api/index.ts';
import type { Fields } from './conform.ts';
import type { ObjectType, ScalarName, ValueType } from './schema.ts';

/** The prefix that Go clients put before an encoded object. */
const magic = Buffer.from('k8s\0');

/** Bytes that are not an object, or that cannot be decoded. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
  readonly reason = 'BadRequest';
}

/** The fields of the envelope, and the bytes inside it. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Buffer;
}

/** Opens the envelope of an object in protobuf. Throws `ProtobufError`. */
export function readEnvelope(body: Buffer): Envelope {
  if (!body.subarray(0, magic.length).equals(magic)) throw new ProtobufError('the body is not Kubernetes protobuf');
  let apiVersion = '';
  let kind = '';
  let raw = Buffer.alloc(0);
  for (const { number, value } of readMessage(body.subarray(magic.length))) {
    if (number === 2 && Buffer.isBuffer(value)) raw = Buffer.from(value);
    if (number !== 1 || !Buffer.isBuffer(value)) continue;
    for (const part of readMessage(value)) {
      if (part.number === 1) apiVersion = String(part.value);
      if (part.number === 2) kind = String(part.value);
    }
  }
  return { apiVersion, kind, raw };
}

/** The JSON form of an encoded object. Throws `ProtobufError`. */
export function decodeProtobuf(bytes: Buffer, type: ObjectType): Fields {
  const object: Fields = {};
  fill(object, bytes, type);
  return object;
}

function fill(object: Fields, bytes: Buffer, type: ObjectType): void {
  for (const { number, value } of readMessage(bytes)) {
    const target = type.numbers.get(number);
    if (target === undefined) continue; // a field of a later version
    if (typeof target !== 'string') {
      fill(object, asBytes(value), target);
      continue;
    }
    const field = type.fields.get(target);
    if (field !== undefined) object[target] = readField(object[target], value, field.type);
  }
}

function readField(present: unknown, value: Value, type: ValueType): unknown {
  switch (type.kind) {
    case 'list': {
      const items: unknown[] = Array.isArray(present) ? present : [];
      items.push(readField(undefined, value, type.item));
      return items;
    }
    case 'map': {
      const [name, item] = readEntry(asBytes(value), type.value);
      return { ...(typeof present === 'object' ? present : {}), [name]: item };
    }
    case 'object': {
      const object: Fields = {};
      fill(object, asBytes(value), type.type);
      return object;
    }
    case 'scalar':
      return readScalar(value, type.name);
  }
}

function readEntry(bytes: Buffer, type: ValueType): [string, unknown] {
  let name = '';
  let item: unknown = type.kind === 'scalar' && type.name === 'string' ? '' : undefined;
  for (const { number, value } of readMessage(bytes)) {
    if (number === 1) name = asBytes(value).toString('utf8');
    // Lists in maps are wrapped in a message of their own.
    if (number === 2 && type.kind !== 'list') item = readField(item, value, type);
    if (number === 2 && type.kind === 'list') {
      for (const each of readMessage(asBytes(value))) item = readField(item, each.value, type);
    }
  }
  return [name, item];
}

function readScalar(value: Value, name: ScalarName): unknown {
  switch (name) {
    case 'string':
      // Durations are numbers in protobuf and text in JSON. No served kind has any.
      return asBytes(value).toString('utf8');
    case 'bytes':
      return asBytes(value).toString('base64');
    case 'boolean':
      return value === 1n;
    case 'integer':
      return integerOf(asNumber(value));
    case 'number':
      return asBytes(value).readDoubleLE();
    case 'quantity':
      return textAt(asBytes(value), 1);
    case 'time':
    case 'microtime':
      return readTime(asBytes(value));
    case 'int-or-string':
      return readIntOrString(asBytes(value));
    case 'any':
      return readRaw(asBytes(value));
  }
}

/** An int64 is signed, and may not fit a `number`. */
function integerOf(value: bigint): number | ExactInteger {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : ExactInteger.of(String(value));
}

function textAt(bytes: Buffer, wanted: number): string {
  for (const { number, value } of readMessage(bytes)) if (number === wanted) return asBytes(value).toString('utf8');
  return '';
}

function readTime(bytes: Buffer): string | null {
  let seconds = 0n;
  let nanos = 0n;
  for (const { number, value } of readMessage(bytes)) {
    if (number === 1) seconds = asNumber(value);
    if (number === 2) nanos = asNumber(value);
  }
  // Go's zero time is in the year 1, and means absent.
  if (seconds <= 0n) return null;
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return nanos === 0n ? `${whole}Z` : `${whole}.${String(nanos).padStart(9, '0').slice(0, 6)}Z`;
}

function readIntOrString(bytes: Buffer): number | string {
  let isText = false;
  let number = 0;
  let text = '';
  for (const part of readMessage(bytes)) {
    if (part.number === 1) isText = part.value === 1n;
    if (part.number === 2) number = Number(asNumber(part.value));
    if (part.number === 3) text = asBytes(part.value).toString('utf8');
  }
  return isText ? text : number;
}

/** JSON in protobuf. */
function readRaw(bytes: Buffer): unknown {
  const text = textAt(bytes, 1);
  try {
    return text === '' ? undefined : parseJson(Buffer.from(text));
  } catch (error) {
    throw new ProtobufError('a raw field holds no JSON', { cause: error });
  }
}

type Value = bigint | Buffer;

function asBytes(value: Value): Buffer {
  if (!Buffer.isBuffer(value)) throw new ProtobufError('expected bytes, found a number');
  return value;
}

/** Negative numbers are written in two's complement. */
function asNumber(value: Value): bigint {
  if (Buffer.isBuffer(value)) throw new ProtobufError('expected a number, found bytes');
  return BigInt.asIntN(64, value);
}

interface Part {
  readonly number: number;
  readonly value: Value;
}

function* readMessage(bytes: Buffer): Generator<Part> {
  let at = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new ProtobufError('unexpected end');
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, result);
    }
    throw new ProtobufError('a number is too long');
  };
  const take = (length: number): Buffer => {
    if (length > bytes.length - at) throw new ProtobufError('unexpected end');
    const part = bytes.subarray(at, at + length);
    at += length;
    return part;
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: take(8) };
        break;
      case 2:
        yield { number, value: take(Number(varint())) };
        break;
      case 5:
        yield { number, value: take(4) };
        break;
      default:
        throw new ProtobufError(`unknown wire type ${tag & 7}`);
    }
  }
}
