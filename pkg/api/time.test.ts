import { describe, expect, test } from 'vitest';

import { isBeingDeleted, parseTime } from './time.ts';

describe('parseTime', () => {
  const rows = [
    { name: 'a time', time: '2026-01-01T00:00:00Z', expected: 1_767_225_600_000 },
    { name: 'a time with micro-seconds', time: '2026-01-01T00:00:00.250000Z', expected: 1_767_225_600_250 },
    { name: 'the last year', time: '9999-12-31T23:59:59Z', expected: 253_402_300_799_000 },
    { name: 'null, as the API writes a zero time', time: null, expected: undefined },
    { name: 'an absent field', time: undefined, expected: undefined },
    { name: 'an empty text', time: '', expected: undefined },
    { name: 'a text that is no time', time: 'yesterday', expected: undefined },
  ];
  for (const { name, time, expected } of rows) {
    test(`${name} gives ${expected}`, () => expect(parseTime(time)).toBe(expected));
  }
});

describe('isBeingDeleted', () => {
  const rows = [
    { metadata: {}, expected: false },
    { metadata: { deletionTimestamp: null }, expected: false },
    { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, expected: true },
  ];
  for (const { metadata, expected } of rows) {
    test(`is ${expected} for ${JSON.stringify(metadata)}`, () => expect(isBeingDeleted(metadata)).toBe(expected));
  }
});
