import { describe, expect, test } from 'vitest';

import { ExactInteger } from './exact-integer.ts';
import { goJson } from './go-json.ts';

describe('goJson', () => {
  const rows: { value: unknown; expected: string }[] = [
    { value: [null, 1, 'a'], expected: '[null,1,"a"]' },
    { value: { sources: null, a: undefined, creationTimestamp: null }, expected: '{"sources":null}' },
    { value: null, expected: 'null' },
    { value: { '😀': 1, '\uffee': 2 }, expected: '{"\uffee":2,"😀":1}' },
  ];
  for (const { value, expected } of rows) test(expected, () => expect(goJson(value)).toBe(expected));
});

test('integers beyond 2^53 are rounded by one decoder of Go and kept by the other', () => {
  const value = { a: ExactInteger.of('9007199254740993') };
  expect(goJson(value)).toBe('{"a":9007199254740992}');
  expect(goJson(value, 'int64')).toBe('{"a":9007199254740993}');
});
