import { describe, expect, test } from 'vitest';

import { frozen, secret } from '../../test/support/builders.ts';
import { computeFate, isLongUnused, isTrackedLongEnough, parseDay } from './token-fate.ts';

const hourMs = 3600 * 1000;
const periodMs = 10 * 24 * hourMs;
const now = '2026-03-20T12:00:00Z';
const nowMs = Date.parse(now);

describe('isTrackedLongEnough', () => {
  const rows = [
    { name: 'the period and a day after', since: '2026-03-09', at: '2026-03-20T00:00:00Z', expected: true },
    { name: 'not a second earlier', since: '2026-03-09', at: '2026-03-19T23:59:59Z', expected: false },
    { name: 'not without a day', since: undefined, at: now, expected: false },
    { name: 'not with an invalid day', since: 'long ago', at: now, expected: false },
  ];
  for (const { name, since, at, expected } of rows) {
    test(name, () => expect(isTrackedLongEnough(since, Date.parse(at), periodMs)).toBe(expected));
  }
});

describe('isLongUnused', () => {
  const old = '2026-01-01T00:00:00Z';
  const rows = [
    { name: 'an old token that was never used', created: old, expected: true },
    { name: 'one that is as old as the period', created: '2026-03-10T12:00:00Z', expected: false },
    { name: 'one that is a second older', created: '2026-03-10T11:59:59Z', expected: true },
    { name: 'one used on the last day that counts', created: old, lastUsed: '2026-03-10', expected: false },
    { name: 'one used the day before', created: old, lastUsed: '2026-03-09', expected: true },
    { name: 'one with an invalid last use', created: old, lastUsed: '2026-02-31', expected: false },
    { name: 'one that is terminating', created: old, terminating: true, expected: false },
  ];
  for (const { name, created, lastUsed, terminating, expected } of rows) {
    test(`${expected ? 'is' : 'is not'} ${name}`, () => {
      const token = secret({
        labels: lastUsed === undefined ? {} : { 'kubernetes.io/legacy-token-last-used': lastUsed },
        metadata: { creationTimestamp: created, ...(terminating === true && { deletionTimestamp: now }) },
      });
      expect(isLongUnused(frozen(token), nowMs, periodMs)).toBe(expected);
    });
  }
});

describe('computeFate', () => {
  const invalidate = { kind: 'invalidate', since: '2026-03-20' };
  const rows = [
    { name: 'invalidates a valid token first', invalidSince: undefined, expected: invalidate },
    { name: 'invalidates again if the day is invalid', invalidSince: 'yesterday', expected: invalidate },
    { name: 'waits for the last day that counts', invalidSince: '2026-03-10', expected: { kind: 'keep' } },
    { name: 'deletes the day after', invalidSince: '2026-03-09', expected: { kind: 'delete' } },
  ];
  for (const { name, invalidSince, expected } of rows) {
    test(name, () => {
      const labels = invalidSince === undefined ? {} : { 'kubernetes.io/legacy-token-invalid-since': invalidSince };
      expect(computeFate(frozen(secret({ labels })), nowMs, periodMs)).toEqual(expected);
    });
  }
});

test('parseDay accepts valid calendar days only', () => {
  expect(parseDay('2024-02-29')).toBe(Date.parse('2024-02-29T00:00:00Z'));
  for (const text of ['2025-02-29', '2025-2-9', '20250209', '2025-02-09T00:00:00Z', '', undefined]) {
    expect(parseDay(text)).toBeUndefined();
  }
});
