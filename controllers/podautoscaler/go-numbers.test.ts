import { describe, expect, test } from 'vitest';

import { addInt32, sumInt64, toInt32, toInt64 } from './go-numbers.ts';

describe('toInt32 and toInt64 convert as Go does on amd64', () => {
  const rows: [number, number, bigint][] = [
    [0, 0, 0n],
    [2.9, 2, 2n],
    [-2.9, -2, -2n],
    [3e9, -(2 ** 31), 3_000_000_000n],
    [-3e9, -(2 ** 31), -3_000_000_000n],
    [1e20, -(2 ** 31), -(2n ** 63n)],
    [Number.POSITIVE_INFINITY, -(2 ** 31), -(2n ** 63n)],
    [Number.NaN, -(2 ** 31), -(2n ** 63n)],
  ];
  test.each(rows)('%s', (value, int32, int64) => {
    expect(toInt32(value)).toBe(int32);
    expect(toInt64(value)).toBe(int64);
  });
});

test('sums wrap around', () => {
  expect(addInt32(2 ** 31 - 1, 1)).toBe(-(2 ** 31));
  expect(addInt32(3, -1)).toBe(2);
  expect(sumInt64([2n ** 63n - 1n, 1n])).toBe(-(2n ** 63n));
  expect(sumInt64([])).toBe(0n);
});
