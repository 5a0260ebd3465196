import { describe, expect, test } from 'vitest';

import { canonicalQuantity, milliValue, quantityValue } from './quantity.ts';

const rows: readonly (readonly [string | number, string | undefined])[] = [
  ['100m', '100m'],
  ['0.5', '500m'],
  [0.5, '500m'],
  [2, '2'],
  ['1000m', '1'],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['100Mi', '100Mi'],
  ['0', '0'],
  ['0Mi', '0'],
  ['1e3', '1e3'],
  ['1000', '1k'],
  ['1500', '1500'],
  ['-5', '-5'],
  ['.5', '500m'],
  ['', undefined],
  ['one', undefined],
  ['1 Mi', undefined],
  ['1Zi', undefined],
];

describe('canonicalQuantity', () => {
  for (const [given, expected] of rows) {
    test(`writes ${JSON.stringify(given)} as ${expected}`, () => expect(canonicalQuantity(given)).toBe(expected));
  }
});

const valueRows: readonly (readonly [string, number | undefined, number | undefined])[] = [
  ['4', 4, 4000],
  ['3920m', 4, 3920],
  ['1.5', 2, 1500],
  ['0.0005', 1, 1],
  ['1n', 1, 1],
  ['2k', 2000, 2_000_000],
  ['2Ki', 2048, 2_048_000],
  ['1.5Ki', 1536, 1_536_000],
  ['1e1', 10, 10_000],
  ['-1500m', -2, -1500],
  ['0', 0, 0],
  ['1e999999999', Number(2n ** 63n - 1n), Number(2n ** 63n - 1n)],
  ['1e-999999999', 1, 1],
  ['1K', undefined, undefined],
  ['', undefined, undefined],
  ['.', undefined, undefined],
  ['nonsense', undefined, undefined],
];

describe('quantityValue and milliValue', () => {
  for (const [given, units, thousandths] of valueRows) {
    test(`${JSON.stringify(given)} is ${units}, or ${thousandths} thousandths`, () => {
      expect(quantityValue(given)).toBe(units);
      expect(milliValue(given)).toBe(thousandths);
    });
  }
});
