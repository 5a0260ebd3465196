import { describe, expect, test } from 'vitest';

import { decide, observe, planRelease, type DecideInput, type ElectionRecord } from './decide.ts';

const candidate = { identity: 'us', leaseDurationSeconds: 15 };
const time = '2026-01-01T00:00:00.000000Z';
const before = '2025-12-31T23:00:00.123456Z';
const recordOf = (holderIdentity: string, leaseDurationSeconds = 15): ElectionRecord => ({
  holderIdentity,
  leaseDurationSeconds,
  acquireTime: before,
  renewTime: before,
  leaseTransitions: 3,
});
const ours = { holderIdentity: 'us', leaseDurationSeconds: 15, acquireTime: time, renewTime: time };

interface Row {
  readonly name: string;
  readonly record: ElectionRecord | undefined;
  readonly deleted?: ElectionRecord;
  readonly leading?: boolean;
  readonly ageMs?: number;
  readonly expected: object;
}

const rows: Row[] = [
  {
    name: 'takes a lease that does not exist, as its first holder',
    record: undefined,
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 0 } },
  },
  {
    name: 'takes a released lease at once',
    record: recordOf('', 1),
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 4 } },
  },
  { name: 'leaves the lease of another alone', record: recordOf('them'), expected: { kind: 'wait', holder: 'them' } },
  {
    name: 'waits to the last millisecond',
    record: recordOf('them'),
    ageMs: 14_999,
    expected: { kind: 'wait', holder: 'them' },
  },
  {
    name: 'takes a lease that has not changed for its duration',
    record: recordOf('them'),
    ageMs: 15_000,
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 4 } },
  },
  {
    name: 'counts by the duration that the holder wrote, not by its own',
    record: recordOf('them', 60),
    ageMs: 59_999,
    expected: { kind: 'wait', holder: 'them' },
  },
  {
    name: 'renews its own lease without a transition',
    record: recordOf('us'),
    leading: true,
    expected: { kind: 'renew', record: { ...ours, acquireTime: before, leaseTransitions: 3 } },
  },
  {
    name: 'takes up a lease in its own name, expired or not',
    record: recordOf('us'),
    ageMs: 100_000,
    expected: { kind: 'renew', record: { ...ours, acquireTime: before, leaseTransitions: 3 } },
  },
  {
    name: 'a leader that finds another in its place has lost',
    record: recordOf('them'),
    leading: true,
    expected: { kind: 'lost', holder: 'them' },
  },
  {
    name: 'a leader has lost even to a holder that has gone since',
    record: recordOf('them'),
    leading: true,
    ageMs: 100_000,
    expected: { kind: 'lost', holder: 'them' },
  },
  {
    name: 'a leader takes back a lease that somebody emptied',
    record: recordOf(''),
    leading: true,
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 4 } },
  },
  {
    name: 'leaves a deleted lease alone while its holder may be at work',
    record: undefined,
    deleted: recordOf('them'),
    ageMs: 14_999,
    expected: { kind: 'wait', holder: 'them' },
  },
  {
    name: 'takes a deleted lease whose last record has run out',
    record: undefined,
    deleted: recordOf('them'),
    ageMs: 15_000,
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 0 } },
  },
  {
    name: 'takes a deleted lease at once if it was released before',
    record: undefined,
    deleted: recordOf(''),
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 0 } },
  },
  {
    name: 'a leader makes a lease that somebody deleted again',
    record: undefined,
    deleted: recordOf('us'),
    leading: true,
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 0 } },
  },
];

describe('decide', () => {
  for (const { name, record, deleted, leading = false, ageMs = 0, expected } of rows) {
    test(name, () => {
      const observed = { record, deleted, sinceMs: 1000 };
      const input: DecideInput = { candidate, leading, observed, nowMs: 1000 + ageMs, time };
      expect(decide(input)).toEqual(expected);
    });
  }
});

describe('observe', () => {
  test('an unchanged record keeps its age', () => {
    const first = observe(undefined, recordOf('them'), 1000);
    expect(observe(first, recordOf('them'), 9000)).toEqual({ record: recordOf('them'), sinceMs: 1000 });
  });

  test('a renewal starts the count anew', () => {
    const first = observe(undefined, recordOf('them'), 1000);
    expect(observe(first, { ...recordOf('them'), renewTime: time }, 9000).sinceMs).toBe(9000);
  });

  test('a deleted lease keeps its last record and the age of that, however often it is found missing', () => {
    const first = observe(observe(undefined, recordOf('them'), 1000), undefined, 9000);
    expect(first).toEqual({ record: undefined, deleted: recordOf('them'), sinceMs: 1000 });
    expect(observe(first, undefined, 12_000)).toEqual(first);
  });

  test('a lease that is made again starts the count anew', () => {
    const first = observe(observe(undefined, recordOf('them'), 1000), undefined, 9000);
    expect(observe(first, recordOf('them'), 12_000)).toEqual({ record: recordOf('them'), sinceMs: 12_000 });
  });
});

test('planRelease empties the holder, keeps the transitions and sets the shortest duration', () => {
  expect(planRelease(recordOf('us'), time)).toEqual({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 3,
  });
});
