import { describe, expect, test } from 'vitest';

import { approximateValue, canonicalQuantity, milliInt64, milliValue, nanoValue, quantityValue } from './quantity.ts';

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

describe('nanoValue', () => {
  test.each<[string, bigint | undefined]>([
    ['1', 1_000_000_000n],
    ['0.5n', 1n],
    ['9007199254740993', 9_007_199_254_740_993_000_000_000n],
    ['1Gi', 1_073_741_824_000_000_000n],
    ['-1.5', -1_500_000_000n],
    ['100E', 9_223_372_036_854_775_807_000_000_000n],
    ['many', undefined],
  ])('of %s is %s', (given, expected) => expect(nanoValue(given)).toBe(expected));
});

describe('milliInt64', () => {
  const rows: readonly (readonly [string, bigint | undefined])[] = [
    ['0', 0n],
    ['250m', 250n],
    ['0.1m', 1n],
    ['-0.1m', -1n],
    ['100Mi', 104_857_600_000n],
    ['9007199254740993', 9_007_199_254_740_993_000n],
    ['9223372036854775807', -1000n], // wraps around
    ['9300000000000000', -9_146_744_073_709_551_616n],
    ['9300000000M', 9_300_000_000_000_000_000n - 2n ** 64n],
    ['9300T', 0n], // a power of ten that Go multiplies step by step
    ['10E', 0n],
    ['', undefined],
    ['many', undefined],
  ];
  for (const [given, expected] of rows) {
    test(`of ${JSON.stringify(given)} is ${expected}`, () => expect(milliInt64(given)).toBe(expected));
  }
});

describe('approximateValue', () => {
  const rows: readonly (readonly [string, number | undefined])[] = [
    ['50m', 0.05],
    ['0.1', 0.1],
    ['1', 1],
    ['1Ki', 1024],
    ['-2m', -0.002],
    ['x', undefined],
  ];
  for (const [given, expected] of rows) {
    test(`of ${given} is ${expected}`, () => expect(approximateValue(given)).toBe(expected));
  }
});
