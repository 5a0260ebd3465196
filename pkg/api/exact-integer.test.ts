import { describe, expect, test } from 'vitest';

import { copyOf } from './cached.ts';
import { isEqualJson } from './equal.ts';
import { ExactInteger, parseJson } from './exact-integer.ts';

const read = (text: string): unknown => parseJson(Buffer.from(text));

describe('parseJson', () => {
  const exact = [
    '9007199254740993',
    '-9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
    '123456789012345678901234567890',
  ];
  for (const text of exact) {
    test(`keeps every digit of ${text}, wherever it occurs`, () => {
      for (let offset = 0; offset < 40; offset++) {
        const json = `{"${'x'.repeat(offset)}":[${text},1],"b":${text}}`;
        const value = read(json);
        expect(JSON.stringify(value)).toBe(json);
        expect(JSON.stringify(copyOf(value))).toBe(json);
      }
    });

    test(`calculates and compares ${text} as the nearest number`, () => {
      const { a } = read(`{"a":${text}}`) as { a: number };
      expect([a * 1000, Math.max(0, a), a < 1]).toEqual([
        Number(text) * 1000,
        Math.max(0, Number(text)),
        Number(text) < 1,
      ]);
    });
  }

  for (const json of [
    '9007199254740993',
    '[9007199254740993]',
    '{"a": 9007199254740993 }',
    '[\n\t-9007199254740993\n]',
  ]) {
    test(`finds the integer in ${JSON.stringify(json)}`, () => {
      expect(JSON.stringify(read(json))).toBe(json.replaceAll(/\s/g, ''));
    });
  }

  const plain = [
    '{"a":9007199254740991,"b":-9007199254740991}',
    '{"a":"9223372036854775807"}',
    '{"a":"containerd://00000000000000000000000000000000000000000000000000000000000000ff"}',
    '{"a":9223372036854775807.5,"b":9223372036854775807e2}',
    '{"a":0.1234567890123456789}',
    '{"a":1e300}',
  ];
  for (const text of plain) {
    test(`reads ${text} like JSON.parse`, () => expect(read(text)).toEqual(JSON.parse(text)));
  }

  test('keeps a field called __proto__', () => {
    const text = '{"__proto__":9223372036854775807}';
    expect(JSON.stringify(copyOf(read(text)))).toBe(text);
  });
});

describe('isEqualJson', () => {
  const rows = [
    { a: '9007199254740993', b: '9007199254740993', expected: true },
    { a: '9007199254740993', b: '9007199254740992', expected: false },
    { a: '9007199254740993', b: '{}', expected: false },
    { a: '{}', b: '9007199254740993', expected: false },
  ];
  for (const { a, b, expected } of rows) {
    test(`${a} and ${b} are ${expected ? 'equal' : 'different'}`, () => {
      expect(isEqualJson(read(`{"a":${a}}`), read(`{"a":${b}}`))).toBe(expected);
      expect(isEqualJson(read(`{"a":${a}}`), read(`{"a":${b}}`), { emptyIsAbsent: true })).toBe(expected);
    });
  }

  test('the same integer is the same object', () => {
    expect(ExactInteger.of('9007199254740993')).toBe(ExactInteger.of('9007199254740993'));
  });
});
