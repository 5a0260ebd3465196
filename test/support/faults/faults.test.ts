import { describe, expect, test } from 'vitest';

import { commonWrites, faults, patternOf, planAll, planSome } from './faults.ts';

describe('patternOf', () => {
  const rows = [
    { method: 'POST', path: '/api/v1/namespaces/a/pods', pattern: 'POST pods' },
    {
      method: 'PATCH',
      path: '/api/v1/namespaces/a/pods/web-x7k2p/status?fieldManager=m',
      pattern: 'PATCH pods/status',
    },
    { method: 'PUT', path: '/apis/apps/v1/namespaces/a/replicasets/web/status', pattern: 'PUT replicasets/status' },
    { method: 'DELETE', path: '/api/v1/namespaces/a/pods/web', pattern: 'DELETE pods' },
    { method: 'DELETE', path: '/api/v1/namespaces/a/pods', pattern: 'DELETE pods (collection)' },
    { method: 'PUT', path: '/api/v1/namespaces/a/finalize', pattern: 'PUT namespaces/finalize' },
    { method: 'PATCH', path: '/api/v1/nodes/n', pattern: 'PATCH nodes' },
    { method: 'GET', path: '/api/v1/namespaces/a/pods', pattern: undefined },
    { method: 'POST', path: '/api/v1/namespaces/a/events', pattern: undefined },
    { method: 'PUT', path: '/apis/coordination.k8s.io/v1/namespaces/a/leases/l', pattern: undefined },
    { method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', pattern: undefined },
  ];
  for (const { method, path, pattern } of rows) {
    test(`${method} ${path} is ${pattern ?? 'not counted'}`, () => expect(patternOf(method, path)).toBe(pattern));
  }
});

test('only writes that every recording has are disturbed', () => {
  const recordings = [
    ['POST pods', 'PUT jobs', 'POST pods', 'PUT jobs'],
    ['POST pods', 'POST pods', 'PUT jobs', 'PATCH pods'],
  ];
  expect(commonWrites(recordings)).toEqual([
    { pattern: 'POST pods', nth: 1 },
    { pattern: 'POST pods', nth: 2 },
    { pattern: 'PUT jobs', nth: 1 },
  ]);
});

const writes = [1, 2].map((nth) => ({ pattern: 'POST pods', nth }));

test('the whole plan has every fault at every write', () => {
  expect(planAll(writes)).toHaveLength(writes.length * faults.length);
});

test('three scenarios in a row have every fault among them, and each has some', () => {
  const plans = [4, 5, 6].map((turn) => planSome(writes, turn));
  expect(new Set(plans.flat().map(({ fault }) => fault)).size).toBe(faults.length);
  expect(plans.map((plan) => plan.length)).toEqual([3, 3, 3]);
});
