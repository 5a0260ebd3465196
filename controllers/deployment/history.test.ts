import { describe, expect, test } from 'vitest';

import { deployment, replicaSet } from '../../test/support/builders.ts';
import {
  lastRevision,
  newestSetAnnotations,
  nextRevision,
  rolledBackAnnotations,
  selectForCleanup,
} from './history.ts';

const revision = 'deployment.kubernetes.io/revision';
const history = 'deployment.kubernetes.io/revision-history';
const revised = (
  name: string,
  number: string | undefined,
  status = { replicas: 0, observedGeneration: 1 },
  replicas = 0,
): ReturnType<typeof replicaSet> =>
  replicaSet({
    name,
    ...(number === undefined ? {} : { annotations: { [revision]: number } }),
    spec: { replicas },
    status,
  });

describe('newestSetAnnotations', () => {
  const rows = [
    { name: 'gives the first revision to a new set', before: undefined, next: 1n, expected: { [revision]: '1' } },
    {
      name: 'keeps the revision of the newest set',
      before: { [revision]: '3' },
      next: 3n,
      expected: { [revision]: '3' },
    },
    {
      name: 'records the former revision of a ReplicaSet that is used again',
      before: { [revision]: '1' },
      next: 4n,
      expected: { [revision]: '4', [history]: '1' },
    },
    {
      name: 'appends to the history',
      before: { [revision]: '4', [history]: '1' },
      next: 7n,
      expected: { [revision]: '7', [history]: '1,4' },
    },
    {
      name: 'counts exactly beyond 2^53',
      before: { [revision]: '4611686018427387905' },
      next: nextRevision([revised('old', '4611686018427387905')]),
      expected: { [revision]: '4611686018427387906', [history]: '4611686018427387905' },
    },
    {
      name: 'keeps its revision if the next one would wrap around, as in Go',
      before: { [revision]: '5' },
      next: nextRevision([revised('old', '9223372036854775807')]),
      expected: { [revision]: '5' },
    },
    {
      name: 'keeps a revision that is not a number',
      before: { [revision]: 'mine' },
      next: 2n,
      expected: { [revision]: 'mine' },
    },
  ];
  for (const { name, before, next, expected } of rows) {
    test(name, () => expect(newestSetAnnotations(deployment(), before, next)).toEqual(expected));
  }

  test('copies the annotations of the Deployment, except special ones', () => {
    const annotations = { note: 'x', [revision]: '9', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    expect(newestSetAnnotations(deployment({ annotations }), {}, 1n)).toEqual({ note: 'x', [revision]: '1' });
  });

  test('drops the oldest of a history that grows too long', () => {
    const long = Array.from({ length: 500 }, (_, index) => 1000 + index).join(',');
    const result = newestSetAnnotations(deployment(), { [revision]: '1500', [history]: long }, 1501n)[history] ?? '';
    expect(result.length).toBeLessThanOrEqual(2000);
    expect(result.endsWith(',1499,1500')).toBe(true);
    expect(result.startsWith('1000,')).toBe(false);
  });
});

describe('lastRevision', () => {
  const rows = [
    { name: 'is the second newest', sets: ['1', '3', '2'], expected: 2n },
    { name: 'is none with a single set', sets: ['1'], expected: 0n },
    { name: 'ignores revisions that are not numbers', sets: ['1', 'x', '2'], expected: 1n },
  ];
  for (const { name, sets, expected } of rows) {
    test(name, () => expect(lastRevision(sets.map((number) => revised(number, number)))).toBe(expected));
  }
});

describe('rolledBackAnnotations', () => {
  test('restores the annotations of the ReplicaSet and keeps special ones', () => {
    const before = deployment({
      annotations: { note: 'new', gone: 'x', [revision]: '3', 'deprecated.deployment.rollback.to': '1' },
    });
    const set = replicaSet({ annotations: { note: 'old', [revision]: '1' } });
    expect(rolledBackAnnotations(before, set)).toEqual({ note: 'old', [revision]: '3' });
  });
});

describe('selectForCleanup', () => {
  const busy = revised('busy', '1', { replicas: 1, observedGeneration: 1 });
  const unseen = revised('unseen', '1', { replicas: 0, observedGeneration: 0 });
  const rows = [
    {
      name: 'selects the oldest revisions beyond the limit',
      limit: 1,
      sets: [revised('c', '3'), revised('a', '1'), revised('b', '2')],
      expected: ['a', 'b'],
    },
    { name: 'selects none within the limit', limit: 3, sets: [revised('a', '1')], expected: [] },
    { name: 'selects all with limit 0', limit: 0, sets: [revised('a', '1')], expected: ['a'] },
    { name: 'keeps ReplicaSets with pods', limit: 0, sets: [busy, revised('b', '2')], expected: ['b'] },
    { name: 'keeps ReplicaSets whose status is not up to date', limit: 0, sets: [unseen], expected: [] },
    { name: 'keeps ReplicaSets with replicas', limit: 0, sets: [revised('a', '1', undefined, 1)], expected: [] },
    { name: 'has no limit at the largest number', limit: 2147483647, sets: [revised('a', '1')], expected: [] },
  ];
  for (const { name, limit, sets, expected } of rows) {
    test(name, () => {
      const selected = selectForCleanup(deployment({ spec: { revisionHistoryLimit: limit } }), sets);
      expect(selected.map(({ metadata }) => metadata.name)).toEqual(expected);
    });
  }
});
