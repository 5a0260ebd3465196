import { describe, expect, test } from 'vitest';

import { deployment, replicaSet } from '../../test/support/builders.ts';
import { fenceposts, nextNewSize, nextOldSizes } from './rolling.ts';

const rolling = (
  replicas: number,
  maxSurge: number | string,
  maxUnavailable: number | string,
): ReturnType<typeof deployment> =>
  deployment({ spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } } });
const set = (name: string, replicas: number, availableReplicas = replicas, age = 0): ReturnType<typeof replicaSet> =>
  replicaSet({
    name,
    metadata: { creationTimestamp: `2026-01-01T00:00:0${9 - age}Z` },
    spec: { replicas },
    status: { replicas, availableReplicas },
  });

describe('fenceposts', () => {
  const rows = [
    {
      name: 'rounds surge up and unavailability down',
      replicas: 10,
      maxSurge: '25%',
      maxUnavailable: '25%',
      expected: [3, 2],
    },
    { name: 'uses plain numbers', replicas: 10, maxSurge: 2, maxUnavailable: 3, expected: [2, 3] },
    {
      name: 'allows one unavailable pod if both round to 0',
      replicas: 1,
      maxSurge: 0,
      maxUnavailable: '25%',
      expected: [0, 1],
    },
    {
      name: 'never allows more unavailable pods than replicas',
      replicas: 3,
      maxSurge: 0,
      maxUnavailable: 5,
      expected: [0, 3],
    },
    {
      name: 'allows no unavailable pod with 0 replicas',
      replicas: 0,
      maxSurge: '25%',
      maxUnavailable: '25%',
      expected: [0, 0],
    },
    { name: 'supports 100%', replicas: 4, maxSurge: '100%', maxUnavailable: '100%', expected: [4, 4] },
  ];
  for (const { name, replicas, maxSurge, maxUnavailable, expected } of rows) {
    test(name, () => {
      const posts = fenceposts(rolling(replicas, maxSurge, maxUnavailable));
      expect([posts.maxSurge, posts.maxUnavailable]).toEqual(expected);
    });
  }

  test('are 0 for Recreate', () => {
    expect(fenceposts(deployment({ spec: { strategy: { type: 'Recreate' } } }))).toEqual({
      maxSurge: 0,
      maxUnavailable: 0,
    });
  });
});

describe('nextNewSize', () => {
  const rows = [
    {
      name: 'starts with the surge while old pods still run',
      desired: 10,
      maxSurge: 2,
      old: 10,
      current: 0,
      expected: 2,
    },
    { name: 'waits while the surge is exceeded', desired: 10, maxSurge: 2, old: 11, current: 2, expected: 2 },
    { name: 'grows as old pods are removed', desired: 10, maxSurge: 2, old: 5, current: 5, expected: 7 },
    { name: 'never exceeds the desired size', desired: 3, maxSurge: 5, old: 0, current: 0, expected: 3 },
    { name: 'shrinks at once after a scale-down', desired: 4, maxSurge: 1, old: 0, current: 9, expected: 4 },
    { name: 'uses the desired size without old ReplicaSets', desired: 7, maxSurge: 0, old: 0, current: 0, expected: 7 },
  ];
  for (const { name, desired, maxSurge, old, current, expected } of rows) {
    test(name, () => {
      const newest = set('new', current);
      expect(nextNewSize(rolling(desired, maxSurge, 1), newest, [set('old', old), newest])).toBe(expected);
    });
  }
});

describe('nextOldSizes', () => {
  const rows = [
    {
      name: 'removes pods above the minimum once new pods are available',
      desired: 10,
      maxUnavailable: 2,
      current: set('new', 5, 5),
      old: [set('old', 8)],
      expected: { old: 3 },
    },
    {
      name: 'waits for new pods to become available',
      desired: 10,
      maxUnavailable: 0,
      current: set('new', 2, 0),
      old: [set('old', 10)],
      expected: {},
    },
    {
      name: 'removes as many pods at the start as may be unavailable',
      desired: 10,
      maxUnavailable: 3,
      current: set('new', 0, 0),
      old: [set('old', 10)],
      expected: { old: 7 },
    },
    {
      name: 'removes unavailable pods even below the minimum',
      desired: 10,
      maxUnavailable: 2,
      current: set('new', 2, 0),
      old: [set('old', 10, 6)],
      expected: { old: 8 },
    },
    {
      name: 'scales the oldest ReplicaSet down first',
      desired: 4,
      maxUnavailable: 1,
      current: set('new', 2, 2),
      old: [set('younger', 2, 2, 1), set('older', 2, 2, 2)],
      expected: { older: 0, younger: 1 },
    },
    {
      name: 'removes unavailable pods of any ReplicaSet before available ones of the oldest',
      desired: 4,
      maxUnavailable: 0,
      current: set('new', 3, 3),
      old: [set('older', 1, 1, 2), set('younger', 1, 0, 1)],
      expected: { younger: 0 },
    },
    {
      name: 'does not count pods of an old ReplicaSet that is scaled down but still has them in its status',
      desired: 6,
      maxUnavailable: 1,
      current: set('new', 4, 3),
      old: [set('old', 4, 5)],
      expected: { old: 2 },
    },
    {
      name: 'does not count pods of the new ReplicaSet that is scaled down but still has them in its status',
      desired: 4,
      maxUnavailable: 0,
      current: set('new', 3, 5),
      old: [set('old', 3)],
      expected: { old: 1 },
    },
    {
      name: 'does nothing if old ReplicaSets are empty',
      desired: 4,
      maxUnavailable: 1,
      current: set('new', 4),
      old: [set('old', 0)],
      expected: {},
    },
  ];
  for (const { name, desired, maxUnavailable, current, old, expected } of rows) {
    test(name, () => {
      expect(Object.fromEntries(nextOldSizes(rolling(desired, 1, maxUnavailable), current, old))).toEqual(expected);
    });
  }
});
