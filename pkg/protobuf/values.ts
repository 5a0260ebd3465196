import { ExactInteger, parseJson } from '../api/index.ts';
import { type Cursor, ProtobufError } from './cursor.ts';
import type { Encoding } from './message.ts';

/** The form in JSON of the value at the cursor. */
export function readValue(encoding: Encoding, cursor: Cursor, end: number): unknown {
  switch (encoding) {
    case 'string':
      return textTo(cursor, end);
    case 'integer':
      return integerOf(cursor);
    case 'boolean':
      return cursor.varint() !== 0;
    case 'time':
    case 'microtime':
      return readTime(encoding, cursor, end);
    case 'quantity':
      return firstText(cursor, end);
    case 'int-or-string':
      return readIntOrString(cursor, end);
    case 'bytes':
      return cursor.bytes.toString('base64', cursor.at, end);
    case 'number':
      return cursor.bytes.readDoubleLE(cursor.at);
    case 'json':
      return readJson(cursor, end);
    case 'strings':
      return texts(cursor, end);
  }
}

function textTo(cursor: Cursor, end: number): string {
  return cursor.bytes.toString(undefined, cursor.at, end);
}

/** An int64 may not fit a `number`. */
function integerOf(cursor: Cursor): number | ExactInteger {
  const value = cursor.integer();
  if (typeof value === 'number') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : ExactInteger.of(String(value));
}

/** The texts of the fields of a message: all have the same number. */
function texts(cursor: Cursor, end: number): string[] {
  const result: string[] = [];
  while (cursor.at < end) {
    const fieldEnd = cursor.endOf(cursor.varint() & 7);
    result.push(textTo(cursor, fieldEnd));
    cursor.at = fieldEnd;
  }
  return result;
}

function firstText(cursor: Cursor, end: number): string {
  return texts(cursor, end)[0] ?? '';
}

/** Go's zero time, the beginning of the year 1. It means that there is no time. */
const zeroSeconds = -62_135_596_800;

/** Seconds and nanoseconds. The zero time is null in JSON. Go encodes it without either. */
function readTime(encoding: 'time' | 'microtime', cursor: Cursor, end: number): string | null {
  if (cursor.at >= end) return null;
  let seconds = 0;
  let nanoseconds = 0;
  while (cursor.at < end) {
    const number = cursor.varint() >>> 3;
    const value = Number(cursor.integer());
    if (number === 1) seconds = value;
    else if (number === 2) nanoseconds = value;
  }
  if (seconds === zeroSeconds) return null;
  const time = formatSeconds(seconds);
  if (encoding === 'time') return time;
  return `${time.slice(0, -1)}.${String(Math.floor(nanoseconds / 1000)).padStart(6, '0')}Z`;
}

/** The last times that were formatted. A pod has ten times, of a few seconds, and formatting one takes 0.4 µs. */
const formatted = Array.from({ length: 256 }, () => ({ seconds: Number.NaN, text: '' }));

function formatSeconds(seconds: number): string {
  const slot = formatted[seconds & 0xff];
  if (slot?.seconds === seconds) return slot.text;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.valueOf())) throw new ProtobufError(`${seconds} s is not a time`);
  const text = date.toISOString().replace('.000', '');
  if (slot !== undefined) [slot.seconds, slot.text] = [seconds, text];
  return text;
}

function readIntOrString(cursor: Cursor, end: number): number | string {
  let isText = false;
  let number = 0;
  let text = '';
  while (cursor.at < end) {
    const tag = cursor.varint();
    const fieldEnd = cursor.endOf(tag & 7);
    if (tag >>> 3 === 1) isText = cursor.bytes[cursor.at] === 1;
    else if (tag >>> 3 === 2) number = Number(integerOf(cursor));
    else if (tag >>> 3 === 3) text = textTo(cursor, fieldEnd);
    cursor.at = fieldEnd;
  }
  return isText ? text : number;
}

/** JSON in protobuf. */
function readJson(cursor: Cursor, end: number): unknown {
  const text = firstText(cursor, end);
  try {
    return text === '' ? undefined : parseJson(Buffer.from(text));
  } catch (error) {
    throw new ProtobufError('a raw field holds no JSON', { cause: error });
  }
}
