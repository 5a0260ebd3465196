import { isIP } from 'node:net';

import * as z from 'zod';

import { quantityValue } from '../quantities/index.ts';
import { formatDuration, parseDuration } from '../time/index.ts';

/** The type of a flag, by the name that the help of the Go binary prints. */
export type FlagType = keyof typeof codecs;

/** The value of a flag. A duration is in milliseconds. */
export type FlagValue<T extends FlagType> = z.output<(typeof codecs)[T]>;

/** The text of a flag is not of the flag's type. The message completes "the value …". */
export class FlagValueError extends Error {
  override readonly name = 'FlagValueError';
  readonly reason = 'InvalidFlagValue';
}

function text<T>(parse: (value: string) => T): z.ZodType<T, string> {
  return z.string().transform((value, context) => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : String(error));
      return z.NEVER;
    }
  });
}

const trueWords = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const falseWords = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function parseBoolean(value: string): boolean {
  if (trueWords.has(value)) return true;
  if (falseWords.has(value)) return false;
  throw new FlagValueError('must be true or false');
}

function integerBetween(min: number, max: number): (value: string) => number {
  return (value) => {
    if (!/^[+-]?(\d+|0x[\da-f]+)$/i.test(value)) throw new FlagValueError('must be a whole number');
    const parsed = Number(value.replace(/^[+-]/, '')) * (value.startsWith('-') ? -1 : 1);
    if (parsed < min || parsed > max) throw new FlagValueError(`must be between ${min} and ${max}`);
    return parsed;
  };
}

const int32 = integerBetween(-(2 ** 31), 2 ** 31 - 1);

function parseFloatStrictly(value: string): number {
  const parsed = Number(value);
  if (value.trim() === '' || !Number.isFinite(parsed)) throw new FlagValueError('must be a number');
  return parsed;
}

/** Comma-separated; an entry in double quotes may hold commas. */
function splitList(value: string): string[] {
  if (value === '') return [];
  const entries = value.match(/(?:"[^"]*"|[^,])+|(?<=,)(?=,)|^(?=,)|(?<=,)$/g) ?? [];
  return entries.map((entry) => entry.replaceAll('"', ''));
}

function parsePairs(value: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const pair of splitList(value)) {
    const at = pair.indexOf('=');
    if (at < 1) throw new FlagValueError(`"${pair}" is not of the form key=value`);
    pairs[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return pairs;
}

function parseQuantity(value: string): number {
  const size = quantityValue(value);
  if (size === undefined) throw new FlagValueError('must be a size such as 512, 1k or 2Ki');
  return size;
}

function checkCertificatePair(value: string): string {
  const [files = '', ...rest] = value.split(':');
  const [certFile, keyFile, ...more] = files.split(',');
  if (!certFile || !keyFile || more.length > 0 || rest.length > 1) {
    throw new FlagValueError('must be certfile,keyfile, optionally followed by :name,name');
  }
  return value;
}

function parseAddress(value: string): string {
  if (isIP(value) === 0) throw new FlagValueError('must be an IP address');
  return value;
}

/** Turns the text of a flag into its value. */
export const codecs = {
  bool: text(parseBoolean),
  string: z.string(),
  int: text(integerBetween(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
  int32: text(int32),
  float: text(parseFloatStrictly),
  float32: text(parseFloatStrictly),
  duration: text((value) => (value === '' ? 0 : parseDuration(value))),
  ip: text(parseAddress),
  quantity: text((value) => (value === '' ? 0 : parseQuantity(value))),
  Level: text(int32),
  'version[=true]': z.string(),
  'pattern=N,...': z.string(),
  strings: text(splitList),
  int32Slice: text((value) => splitList(value).map(int32)),
  stringToString: text(parsePairs),
  colonSeparatedMultimapStringString: text(splitList),
  namedCertKey: text((value) => (value === '' ? [] : [checkCertificatePair(value)])),
} satisfies Record<string, z.ZodType<unknown, string>>;

const zeroes: Partial<Record<FlagType, string>> = { bool: 'false', int: '0', int32: '0', float: '0', Level: '0' };

const repeatable: ReadonlySet<FlagType> = new Set([
  'strings',
  'int32Slice',
  'stringToString',
  'colonSeparatedMultimapStringString',
  'namedCertKey',
]);

/** Each occurrence of such a flag adds to the value. For other types the last occurrence wins. */
export function isRepeatable(type: FlagType): boolean {
  return repeatable.has(type);
}

/** The value of such a flag may be left out. */
export function isBoolean(type: FlagType): boolean {
  return type === 'bool' || type === 'version[=true]';
}

export type ParseResult<T extends FlagType> =
  | { readonly ok: true; readonly value: FlagValue<T> }
  | { readonly ok: false; readonly text: string; readonly problem: string };

/** Merges all occurrences of a flag into its value. Without an occurrence the result is Go's zero value. */
export function parseOccurrences<T extends FlagType>(type: T, occurrences: readonly string[]): ParseResult<T> {
  const values: unknown[] = [];
  for (const text of occurrences) {
    const result = codecs[type].safeParse(text);
    if (!result.success) return { ok: false, text, problem: result.error.issues[0]?.message ?? 'is not valid' };
    values.push(result.data);
  }
  const last = values.length > 0 ? values.at(-1) : codecs[type].parse(zeroes[type] ?? '');
  if (!isRepeatable(type)) return { ok: true, value: last as FlagValue<T> }; // parsed by the codec of T
  const merged: unknown = Array.isArray(last) ? values.flat() : Object.assign({}, ...values);
  return { ok: true, value: merged as FlagValue<T> }; // each part was parsed by the codec of T
}

/** Writes a value in the syntax of flags. */
export function formatValue(type: FlagType, value: unknown): string {
  if (type === 'duration' && typeof value === 'number') return formatDuration(value);
  if (type === 'stringToString') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.join(',')}]`;
  return String(value);
}
