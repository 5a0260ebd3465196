const int32Limit = 2 ** 31;
const int64Limit = 2 ** 63;

/**
 * The int32 that Go makes of a float64, on amd64: the fraction is cut off, and what an int32 cannot hold, NaN included,
 * is the smallest one.
 */
export function toInt32(value: number): number {
  const whole = Math.trunc(value);
  return whole >= -int32Limit && whole < int32Limit ? whole : -int32Limit;
}

/** The same for int64. */
export function toInt64(value: number): bigint {
  const whole = Math.trunc(value);
  return whole >= -int64Limit && whole < int64Limit ? BigInt(whole) : -(2n ** 63n);
}

/** A sum of int32 wraps around. */
export function addInt32(a: number, b: number): number {
  return (a + b) | 0;
}

/** A sum of int64 wraps around. */
export function sumInt64(values: Iterable<bigint>): bigint {
  let total = 0n;
  for (const value of values) total += value;
  return BigInt.asIntN(64, total);
}
