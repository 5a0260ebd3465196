import { describe, expect, test } from 'vitest';

import { formatMicroTime, formatTime, isBeingDeleted, parseTime, zeroTimeMs } from './time.ts';

describe('parseTime', () => {
  const rows = [
    { name: 'a time', time: '2026-01-01T00:00:00Z', expected: 1_767_225_600_000 },
    { name: 'a time with micro-seconds', time: '2026-01-01T00:00:00.250000Z', expected: 1_767_225_600_250 },
    { name: 'the last year', time: '9999-12-31T23:59:59Z', expected: 253_402_300_799_000 },
    { name: 'null, as the API writes a zero time', time: null, expected: undefined },
    { name: 'an absent field', time: undefined, expected: undefined },
    { name: 'an empty text', time: '', expected: undefined },
    { name: 'a text that is not a time', time: 'yesterday', expected: undefined },
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

describe('formatting a time', () => {
  const rows = [
    { ms: 0, time: '1970-01-01T00:00:00Z', microTime: '1970-01-01T00:00:00.000000Z' },
    { ms: 1_767_225_600_250, time: '2026-01-01T00:00:00Z', microTime: '2026-01-01T00:00:00.250000Z' },
    { ms: 1_767_225_600_999, time: '2026-01-01T00:00:00Z', microTime: '2026-01-01T00:00:00.999000Z' },
    { ms: zeroTimeMs, time: '0001-01-01T00:00:00Z', microTime: '0001-01-01T00:00:00.000000Z' },
  ];
  for (const { ms, time, microTime } of rows) {
    test(`${ms} is ${time} and ${microTime}`, () => {
      expect([formatTime(ms), formatMicroTime(ms)]).toEqual([time, microTime]);
    });
  }
});
