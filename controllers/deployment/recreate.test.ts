import { describe, expect, test } from 'vitest';

import type { ReplicaSet } from '../../pkg/api/index.ts';
import { replicaSet } from '../../test/support/builders.ts';
import { isOldPodRunning, sizesToRetire } from './recreate.ts';

const set = (name: string, replicas: number, running = replicas): ReplicaSet =>
  replicaSet({ name, spec: { replicas }, status: { replicas: running } });

describe('sizesToRetire', () => {
  const rows = [
    { name: 'scales every old ReplicaSet to 0', sets: [set('a', 3), set('b', 1)], expected: ['a', 'b'] },
    { name: 'skips a ReplicaSet with 0 replicas', sets: [set('a', 0, 2), set('b', 1)], expected: ['b'] },
    { name: 'does nothing without old ReplicaSets', sets: [], expected: [] },
  ];
  for (const { name, sets, expected } of rows) {
    test(name, () => expect([...sizesToRetire(sets)]).toEqual(expected.map((retired) => [retired, 0])));
  }
});

describe('isOldPodRunning', () => {
  const rows = [
    { name: 'not when no set counts a pod and none has one', sets: [set('a', 0)], unfinished: [], expected: false },
    { name: 'while a set still counts pods', sets: [set('a', 0), set('b', 0, 1)], unfinished: [], expected: true },
    {
      name: 'while a pod is terminating or of unknown phase',
      sets: [set('a', 0), set('b', 0)],
      unfinished: ['b'],
      expected: true,
    },
    { name: 'not without old sets', sets: [], unfinished: ['b'], expected: false },
  ];
  for (const { name, sets, unfinished, expected } of rows) {
    test(name, () => {
      const uids = sets.filter(({ metadata }) => unfinished.some((known) => known === metadata.name));
      expect(isOldPodRunning(sets, new Set(uids.map(({ metadata }) => metadata.uid)))).toBe(expected);
    });
  }
});
