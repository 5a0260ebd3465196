import { describe, expect, test } from 'vitest';

import { canonicalQuantity } from './quantity.ts';

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
