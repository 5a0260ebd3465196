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
    { name: 'takes plain numbers as they are', replicas: 10, maxSurge: 2, maxUnavailable: 3, expected: [2, 3] },
    {
      name: 'lets one pod be missing when both round to nothing',
      replicas: 1,
      maxSurge: 0,
      maxUnavailable: '25%',
      expected: [0, 1],
    },
    {
      name: 'never lets more be missing than there are',
      replicas: 3,
      maxSurge: 0,
      maxUnavailable: 5,
      expected: [0, 3],
    },
    { name: 'lets none be missing of none', replicas: 0, maxSurge: '25%', maxUnavailable: '25%', expected: [0, 0] },
    { name: 'knows full percentages', replicas: 4, maxSurge: '100%', maxUnavailable: '100%', expected: [4, 4] },
  ];
  for (const { name, replicas, maxSurge, maxUnavailable, expected } of rows) {
    test(name, () => {
      const posts = fenceposts(rolling(replicas, maxSurge, maxUnavailable));
      expect([posts.maxSurge, posts.maxUnavailable]).toEqual(expected);
    });
  }

  test('has none when the strategy is Recreate', () => {
    expect(fenceposts(deployment({ spec: { strategy: { type: 'Recreate' } } }))).toEqual({
      maxSurge: 0,
      maxUnavailable: 0,
    });
  });
});

describe('nextNewSize', () => {
  const rows = [
    {
      name: 'starts with the surge while old pods hold their places',
      desired: 10,
      maxSurge: 2,
      old: 10,
      current: 0,
      expected: 2,
    },
    { name: 'waits while the surge is overdrawn', desired: 10, maxSurge: 2, old: 11, current: 2, expected: 2 },
    { name: 'fills what the old ones have left', desired: 10, maxSurge: 2, old: 5, current: 5, expected: 7 },
    { name: 'never exceeds what is desired', desired: 3, maxSurge: 5, old: 0, current: 0, expected: 3 },
    { name: 'shrinks at once after a scale-down', desired: 4, maxSurge: 1, old: 0, current: 9, expected: 4 },
    { name: 'takes all when there is nothing old', desired: 7, maxSurge: 0, old: 0, current: 0, expected: 7 },
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
      name: 'removes what exceeds the minimum once new pods are available',
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
      name: 'lets as many go at the start as may be missing',
      desired: 10,
      maxUnavailable: 3,
      current: set('new', 0, 0),
      old: [set('old', 10)],
      expected: { old: 7 },
    },
    {
      name: 'removes pods that do not work even when the minimum is not reached',
      desired: 10,
      maxUnavailable: 2,
      current: set('new', 2, 0),
      old: [set('old', 10, 6)],
      expected: { old: 8 },
    },
    {
      name: 'empties the oldest set first',
      desired: 4,
      maxUnavailable: 1,
      current: set('new', 2, 2),
      old: [set('younger', 2, 2, 1), set('older', 2, 2, 2)],
      expected: { older: 0, younger: 1 },
    },
    {
      name: 'removes broken pods of any set before working ones of the oldest',
      desired: 4,
      maxUnavailable: 0,
      current: set('new', 3, 3),
      old: [set('older', 1, 1, 2), set('younger', 1, 0, 1)],
      expected: { younger: 0 },
    },
    {
      name: 'does not count pods of an old set that are told to go but have not yet left its status',
      desired: 6,
      maxUnavailable: 1,
      current: set('new', 4, 3),
      old: [set('old', 4, 5)],
      expected: { old: 2 },
    },
    {
      name: 'does not count pods of the new set that are told to go but have not yet left its status',
      desired: 4,
      maxUnavailable: 0,
      current: set('new', 3, 5),
      old: [set('old', 3)],
      expected: { old: 1 },
    },
    {
      name: 'has nothing to do when old sets are empty',
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
