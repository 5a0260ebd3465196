import { describe, expect, test } from 'vitest';

import type { JobCondition } from '../../pkg/api/index.ts';
import { frozen, job } from '../../test/support/builders.ts';
import { computeExpiry } from './expiry.ts';

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const nowMs = Date.parse(at(30));
const finished = (type: string, second: number, status = 'True'): JobCondition => ({
  type,
  status,
  lastTransitionTime: at(second),
});

describe('computeExpiry', () => {
  const rows = [
    {
      name: 'is now, to the second',
      ttl: 10,
      conditions: [finished('Complete', 20)],
      expected: { kind: 'now', lateMs: 0 },
    },
    {
      name: 'is now for a failed Job too',
      ttl: 5,
      conditions: [finished('Failed', 20)],
      expected: { kind: 'now', lateMs: 5000 },
    },
    {
      name: 'is at once with a TTL of zero',
      ttl: 0,
      conditions: [finished('Complete', 30)],
      expected: { kind: 'now', lateMs: 0 },
    },
    {
      name: 'is later while the TTL runs',
      ttl: 11,
      conditions: [finished('Complete', 20)],
      expected: { kind: 'later', inMs: 1000, finishedInFuture: false },
    },
    {
      name: 'waits for a clock that is ahead',
      ttl: 5,
      conditions: [finished('Complete', 40)],
      expected: { kind: 'later', inMs: 15_000, finishedInFuture: true },
    },
    {
      name: 'is never without a TTL',
      ttl: undefined,
      conditions: [finished('Complete', 20)],
      expected: { kind: 'never' },
    },
    {
      name: 'is never for a condition whose time is null',
      ttl: 1,
      conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: null }],
      expected: { kind: 'never' },
    },
    { name: 'is never while the Job runs', ttl: 1, conditions: [], expected: { kind: 'never' } },
    {
      name: 'is never for a condition that is not true',
      ttl: 1,
      conditions: [finished('Complete', 1, 'False')],
      expected: { kind: 'never' },
    },
    {
      name: 'is never for an interim condition',
      ttl: 1,
      conditions: [finished('SuccessCriteriaMet', 1)],
      expected: { kind: 'never' },
    },
    {
      name: 'is never without a time',
      ttl: 1,
      conditions: [{ type: 'Complete', status: 'True' }],
      expected: { kind: 'never' },
    },
  ];
  for (const { name, ttl, conditions, expected } of rows) {
    test(name, () => {
      const described = frozen(job({ spec: { ttlSecondsAfterFinished: ttl }, status: { conditions } }));
      expect(computeExpiry(described, nowMs)).toEqual(expected);
    });
  }

  test('is never for a terminating Job', () => {
    const going = job({
      spec: { ttlSecondsAfterFinished: 0 },
      metadata: { deletionTimestamp: at(1) },
      status: { conditions: [finished('Complete', 1)] },
    });
    expect(computeExpiry(going, nowMs)).toEqual({ kind: 'never' });
  });
});
