import { ExactInteger } from './exact-integer.ts';

/** Parses a decimal int64 like Go's `strconv.ParseInt`. Returns undefined for any other text. */
export function parseInt64(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** An int64 field of an object, every digit of it. An absent field is 0. */
export function int64Of(field: number | null | undefined): bigint {
  return BigInt(String(field ?? 0)); // the text of an `ExactInteger` has all digits
}

/** The value of an int64 field. It wraps around as int64 does in Go. */
export function int64Field(value: bigint): number {
  const wrapped = BigInt.asIntN(64, value);
  const number = Number(wrapped);
  return Number.isSafeInteger(number) ? number : (ExactInteger.of(String(wrapped)) as unknown as number);
}
