import { describe, expect, test } from 'vitest';

import { ResourcePoolStatusRequests, type ResourcePoolStatusRequest } from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { isExpired } from './expiry.ts';

const nowMs = Date.parse('2026-01-03T00:00:00Z');
const hoursAgo = (hours: number): string => new Date(nowMs - hours * 3_600_000).toISOString();
const condition = (type: string, hours: number) => ({
  type,
  status: 'True',
  reason: 'x',
  message: '',
  lastTransitionTime: hoursAgo(hours),
});

describe('a request', () => {
  const rows: { name: string; age: number; status?: ResourcePoolStatusRequest['status']; expected: boolean }[] = [
    { name: 'without answer is kept for a day', age: 23.9, expected: false },
    { name: 'without answer is not kept for longer', age: 24.1, expected: true },
    {
      name: 'is kept for an hour after the answer',
      age: 20,
      status: { poolCount: 0, conditions: [condition('Complete', 0.9)] },
      expected: false,
    },
    {
      name: 'is not kept for longer after the answer',
      age: 20,
      status: { poolCount: 0, conditions: [condition('Other', 0), condition('Complete', 1.1)] },
      expected: true,
    },
    {
      name: 'is not kept for longer after a failure',
      age: 20,
      status: { poolCount: 0, conditions: [condition('Failed', 1.1)] },
      expected: true,
    },
    {
      name: 'with a status of another writer is kept for an hour',
      age: 0.9,
      status: { poolCount: 0 },
      expected: false,
    },
    {
      name: 'with a status of another writer is not kept for longer',
      age: 1.1,
      status: { poolCount: 0 },
      expected: true,
    },
  ];
  for (const { name, age, status, expected } of rows) {
    test(name, () => {
      const described = { metadata: { creationTimestamp: hoursAgo(age) } };
      const request = build(ResourcePoolStatusRequests, described, { spec: { driver: 'd' }, status });
      expect(isExpired(frozen(request), nowMs)).toBe(expected);
    });
  }
});
