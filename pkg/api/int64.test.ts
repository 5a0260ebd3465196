import { describe, expect, test } from 'vitest';

import { parseInt64 } from './int64.ts';

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
