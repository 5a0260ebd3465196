import { describe, expect, test } from 'vitest';

import { decide, decideCoordinated, observe, planRelease, type DecideInput, type ElectionRecord } from './decide.ts';

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
    name: 'acquires an absent lease, without a transition',
    record: undefined,
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 0 } },
  },
  {
    name: 'acquires a released lease at once',
    record: recordOf('', 1),
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 4 } },
  },
  {
    name: 'waits while another candidate holds the lease',
    record: recordOf('them'),
    expected: { kind: 'wait', holder: 'them' },
  },
  {
    name: 'waits to the last millisecond',
    record: recordOf('them'),
    ageMs: 14_999,
    expected: { kind: 'wait', holder: 'them' },
  },
  {
    name: 'acquires a lease that has not changed for its duration',
    record: recordOf('them'),
    ageMs: 15_000,
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 4 } },
  },
  {
    name: 'uses the duration in the lease, not its own',
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
    name: 'renews a lease with its own identity, expired or not',
    record: recordOf('us'),
    ageMs: 100_000,
    expected: { kind: 'renew', record: { ...ours, acquireTime: before, leaseTransitions: 3 } },
  },
  {
    name: 'a leader that finds another holder has lost the lease',
    record: recordOf('them'),
    leading: true,
    expected: { kind: 'lost', holder: 'them' },
  },
  {
    name: 'a leader has lost the lease even if the other holder has expired',
    record: recordOf('them'),
    leading: true,
    ageMs: 100_000,
    expected: { kind: 'lost', holder: 'them' },
  },
  {
    name: 'a leader acquires its lease again if another client removed the holder',
    record: recordOf(''),
    leading: true,
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 4 } },
  },
  {
    name: 'waits while the holder of a deleted lease may still lead',
    record: undefined,
    deleted: recordOf('them'),
    ageMs: 14_999,
    expected: { kind: 'wait', holder: 'them' },
  },
  {
    name: 'acquires a deleted lease whose last record has expired',
    record: undefined,
    deleted: recordOf('them'),
    ageMs: 15_000,
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 0 } },
  },
  {
    name: 'acquires a deleted lease at once if it was released before',
    record: undefined,
    deleted: recordOf(''),
    expected: { kind: 'acquire', record: { ...ours, leaseTransitions: 0 } },
  },
  {
    name: 'a leader creates a deleted lease again',
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

  test('a renewal restarts the age', () => {
    const first = observe(undefined, recordOf('them'), 1000);
    expect(observe(first, { ...recordOf('them'), renewTime: time }, 9000).sinceMs).toBe(9000);
  });

  test('a deleted lease keeps its last record and its age, however often it is read', () => {
    const first = observe(observe(undefined, recordOf('them'), 1000), undefined, 9000);
    expect(first).toEqual({ record: undefined, deleted: recordOf('them'), sinceMs: 1000 });
    expect(observe(first, undefined, 12_000)).toEqual(first);
  });

  test('a lease that is created again restarts the age', () => {
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

describe('decideCoordinated', () => {
  const given = { ...recordOf('us', 5), acquireTime: undefined };
  const coordinated: Row[] = [
    { name: 'waits while there is no lease', record: undefined, expected: { kind: 'wait', holder: '' } },
    { name: 'waits while nobody holds it', record: recordOf(''), expected: { kind: 'wait', holder: '' } },
    {
      name: 'does not take a lease that has expired',
      record: recordOf('them'),
      ageMs: 60_000,
      expected: { kind: 'wait', holder: 'them' },
    },
    {
      name: 'renews a lease that it has been given',
      record: given,
      expected: { kind: 'renew', record: { ...ours, leaseTransitions: 3 } },
    },
    {
      name: 'renews its own lease',
      record: recordOf('us'),
      leading: true,
      expected: { kind: 'renew', record: { ...ours, acquireTime: before, leaseTransitions: 3 } },
    },
    {
      name: 'does not renew its own lease after it has expired: the API server may give it away now',
      record: given,
      ageMs: 5000,
      expected: { kind: 'wait', holder: 'us' },
    },
    {
      name: 'ends its term when another candidate is to be next',
      record: { ...recordOf('us'), preferredHolder: 'them' },
      leading: true,
      expected: { kind: 'lost', holder: 'them' },
    },
    {
      name: 'does not begin a term that is to end',
      record: { ...recordOf('us'), preferredHolder: 'them' },
      expected: { kind: 'wait', holder: 'them' },
    },
    {
      name: 'has lost a lease that another candidate holds',
      record: recordOf('them'),
      leading: true,
      expected: { kind: 'lost', holder: 'them' },
    },
  ];
  for (const { name, record, leading = false, ageMs = 0, expected } of coordinated) {
    test(name, () => {
      const observed = { record, sinceMs: 1000 };
      expect(decideCoordinated({ candidate, leading, observed, nowMs: 1000 + ageMs, time })).toEqual(expected);
    });
  }

  test('a released lease does not say who is next', () => {
    expect(planRelease({ ...recordOf('us'), preferredHolder: 'them' }, time)).not.toHaveProperty('preferredHolder');
  });
});
