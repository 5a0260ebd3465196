import { describe, expect, test } from 'vitest';

import type { OwnerReference, Pod } from '../../pkg/api/index.ts';
import { disruptionBudget, frozen, pod } from '../../test/support/builders.ts';
import { computeExpectation, needsScales, type ControllerScale } from './expectation.ts';

const ownedBy = (uid: string): OwnerReference => {
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: uid, uid, controller: true };
};
const podsOf = (uid: string | undefined, count: number, prefix = uid ?? 'bare'): Pod[] =>
  Array.from({ length: count }, (_, index) =>
    pod({ name: `${prefix}-${index}`, metadata: uid === undefined ? {} : { ownerReferences: [ownedBy(uid)] } }),
  );
const found = (uid: string, replicas: number): ControllerScale => ({ kind: 'found', uid, replicas });

interface Row {
  readonly name: string;
  readonly spec: { minAvailable?: number | string; maxUnavailable?: number | string };
  readonly pods: readonly Pod[];
  readonly scales?: Readonly<Record<string, ControllerScale>>;
  /** Pods expected, healthy pods desired, unmanaged pods; or the failure. */
  readonly expected: readonly [number, number, readonly string[]] | string;
}

const rows: Row[] = [
  {
    name: 'a number of pods needs no controller',
    spec: { minAvailable: 2 },
    pods: podsOf('a', 3),
    expected: [3, 2, []],
  },
  { name: 'a number may exceed the pods', spec: { minAvailable: 9 }, pods: podsOf('a', 3), expected: [3, 9, []] },
  { name: 'without a bound no pods are expected', spec: {}, pods: podsOf('a', 3), expected: [0, 0, []] },
  {
    name: 'a percentage is of the desired replicas, not of the existing pods',
    spec: { minAvailable: '50%' },
    pods: podsOf('a', 1),
    scales: { a: found('a', 10) },
    expected: [10, 5, []],
  },
  {
    name: 'minAvailable as a percentage is rounded up',
    spec: { minAvailable: '34%' },
    pods: podsOf('a', 3),
    scales: { a: found('a', 3) },
    expected: [3, 2, []],
  },
  {
    name: 'maxUnavailable as a percentage is rounded up',
    spec: { maxUnavailable: '34%' },
    pods: podsOf('a', 3),
    scales: { a: found('a', 3) },
    expected: [3, 1, []],
  },
  {
    name: 'maxUnavailable may exceed the number of pods',
    spec: { maxUnavailable: 5 },
    pods: podsOf('a', 3),
    scales: { a: found('a', 3) },
    expected: [3, 0, []],
  },
  {
    name: 'controllers add up',
    spec: { maxUnavailable: 1 },
    pods: [...podsOf('a', 2), ...podsOf('b', 1)],
    scales: { a: found('a', 4), b: found('b', 3) },
    expected: [7, 6, []],
  },
  {
    name: 'two ReplicaSets of one Deployment count once',
    spec: { maxUnavailable: 1 },
    pods: [...podsOf('a', 2), ...podsOf('b', 1)],
    scales: { a: found('deployment', 4), b: found('deployment', 4) },
    expected: [4, 3, []],
  },
  {
    name: 'a controller with the name of an inherited property counts',
    spec: { maxUnavailable: 0 },
    pods: podsOf('constructor', 1),
    scales: { constructor: found('constructor', 2) },
    expected: [2, 2, []],
  },
  {
    name: 'pods without a controller are reported, and not expected',
    spec: { maxUnavailable: 1 },
    pods: [...podsOf(undefined, 2), ...podsOf('a', 1)],
    scales: { a: found('a', 4) },
    expected: [4, 3, ['bare-0', 'bare-1']],
  },
  { name: 'without pods, no pods are expected', spec: { maxUnavailable: 1 }, pods: [], expected: [0, 0, []] },
  {
    name: 'a deleted controller fails the sync, and the error has the first pod by name',
    spec: { maxUnavailable: 1 },
    pods: [...podsOf('b', 2, 'z'), ...podsOf('a', 1, 'm')],
    scales: { a: { kind: 'absent' }, b: { kind: 'absent' } },
    expected: 'found no controllers for pod "m-0"',
  },
  {
    name: 'a controller that could not be read fails the sync',
    spec: { minAvailable: '10%' },
    pods: [...podsOf('a', 1), ...podsOf('b', 1)],
    scales: { a: found('a', 1), b: { kind: 'failed', error: new Error('no scale'), isLasting: false } },
    expected: 'no scale',
  },
  {
    name: 'a sum beyond int32 overflows as in Go',
    spec: { maxUnavailable: 0 },
    pods: [...podsOf('a', 1), ...podsOf('b', 1)],
    scales: { a: found('a', 2 ** 31 - 1), b: found('b', 1) },
    expected: [-(2 ** 31), 0, []],
  },
];

describe('computeExpectation', () => {
  for (const { name, spec, pods, scales = {}, expected } of rows) {
    test(name, () => {
      const known = new Map(Object.entries(scales));
      const result = computeExpectation(frozen(disruptionBudget({ spec })), frozen(pods), known);
      const shown =
        result.kind === 'failed'
          ? result.error.message
          : [result.expectedPods, result.desiredHealthy, result.unmanagedPods];
      expect(shown).toEqual(expected);
    });
  }
});

describe('needsScales', () => {
  const shares: [object, boolean][] = [
    [{ minAvailable: 1 }, false],
    [{ minAvailable: '1%' }, true],
    [{ maxUnavailable: 1 }, true],
    [{ maxUnavailable: '1%' }, true],
    [{}, false],
  ];
  test.each(shares)('%j: %s', (spec, expected) => expect(needsScales(disruptionBudget({ spec }))).toBe(expected));
});
