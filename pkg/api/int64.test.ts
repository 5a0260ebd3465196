import { describe, expect, test } from 'vitest';

import { ExactInteger } from './exact-integer.ts';
import { int64Field, int64Of, parseInt64 } from './int64.ts';

describe('parseInt64', () => {
  const rows: { text: string | undefined; expected: bigint | undefined }[] = [
    { text: '4611686018427387905', expected: 4611686018427387905n },
    { text: '+7', expected: 7n },
    { text: '-9223372036854775808', expected: -9223372036854775808n },
    { text: '9223372036854775808', expected: undefined },
    { text: '', expected: undefined },
    { text: '1.5', expected: undefined },
    { text: undefined, expected: undefined },
  ];
  for (const { text, expected } of rows) {
    test(`${text} is ${expected}`, () => expect(parseInt64(text)).toBe(expected));
  }
});

describe('an int64 field', () => {
  const rows: { name: string; field: unknown; value: bigint; written: unknown }[] = [
    { name: 'is a number', field: 7, value: 7n, written: 7 },
    { name: 'is 0 if absent', field: undefined, value: 0n, written: 0 },
    { name: 'is 0 if null', field: null, value: 0n, written: 0 },
    {
      name: 'keeps every digit',
      field: ExactInteger.of('9223372036854775807'),
      value: 9223372036854775807n,
      written: ExactInteger.of('9223372036854775807'),
    },
  ];
  for (const { name, field, value, written } of rows) {
    test(name, () => {
      expect(int64Of(field as number)).toBe(value);
      expect(int64Field(value)).toBe(written);
    });
  }
  test('wraps around', () => expect(int64Field(9223372036854775808n)).toBe(ExactInteger.of('-9223372036854775808')));
});
