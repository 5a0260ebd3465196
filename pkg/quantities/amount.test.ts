import { describe, expect, test } from 'vitest';

import {
  addAmounts,
  amountOf,
  formatAmount,
  formatMilli,
  parseAmount,
  roundUpAmount,
  zeroAmount,
  type Amount,
} from './amount.ts';

function amount(text: string): Amount {
  const parsed = parseAmount(text);
  if (parsed === undefined) throw new TypeError(`${text} is not a quantity`);
  return parsed;
}

const sums: readonly (readonly [terms: readonly string[], sum: string])[] = [
  [[], '0'],
  [['0', '0'], '0'],
  [['100m', '0.9'], '1'],
  [['1Gi', '1G'], '2073741824'],
  [['1G', '1Gi'], '2073741824'],
  [['512Mi', '512Mi'], '1Gi'],
  [['0', '1Ki'], '1Ki'],
  [['1Ki', '-24'], '1k'],
  [['1.5Ki', '0.5Ki'], '2Ki'],
  [['1Ki', '1m'], '1024001m'],
  [['1e3', '2e3'], '3e3'],
  [['1n', '1n'], '2n'],
  [['0.1n'], '1n'],
  [['9223372036854775807', '9223372036854775807'], '18446744073709551614'],
  [['8Ei', '8Ei'], '18446744073709551614'],
  [['1', '-3'], '-2'],
];

describe('sums of amounts', () => {
  for (const [terms, sum] of sums) {
    test(`${terms.join(' + ')} is ${sum}`, () => {
      expect(formatAmount(terms.map(amount).reduce(addAmounts, zeroAmount))).toBe(sum);
    });
  }
});

test('an amount is rounded up to whole units', () => {
  expect(['1.5', '1', '1m', '0', '-1.5'].map((text) => formatAmount(roundUpAmount(amount(text))))).toEqual([
    '2',
    '1',
    '1',
    '0',
    '-2',
  ]);
});

test('a count is an amount', () => expect(formatAmount(amountOf(1500))).toBe('1500'));
test('other texts are no amounts', () =>
  expect(['', '1 Mi', 'one'].map(parseAmount)).toEqual([undefined, undefined, undefined]));

describe('formatMilli', () => {
  const rows: readonly (readonly [bigint, 'decimal' | 'binary', string])[] = [
    [0n, 'binary', '0'],
    [250n, 'decimal', '250m'],
    [3000n, 'decimal', '3'],
    [1_500_000n, 'decimal', '1500'],
    [104_857_600_000n, 'decimal', '104857600'],
    [104_857_600_000n, 'binary', '100Mi'],
    [1_023_000n, 'binary', '1023'],
    [1_024_000n, 'binary', '1Ki'],
    [1_024_500n, 'binary', '1024500m'],
    [-(2n ** 63n), 'decimal', '-9223372036854775808m'],
  ];
  for (const [given, format, expected] of rows) {
    test(`of ${given} in ${format} is ${expected}`, () => expect(formatMilli(given, format)).toBe(expected));
  }
});
