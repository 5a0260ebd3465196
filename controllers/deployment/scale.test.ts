import { describe, expect, test } from 'vitest';

import { deployment, replicaSet } from '../../test/support/builders.ts';
import { isScalingEvent, planScale } from './scale.ts';

interface SetShape {
  readonly name: string;
  readonly replicas: number;
  readonly available?: number;
  /** Sized for a Deployment of this many, with this many at most. */
  readonly sizedFor?: number;
  readonly max?: number;
  readonly second?: number;
}

function set({
  name,
  replicas,
  available = replicas,
  sizedFor = 10,
  max = 13,
  second = 0,
}: SetShape): ReturnType<typeof replicaSet> {
  return replicaSet({
    name,
    annotations: {
      'deployment.kubernetes.io/desired-replicas': String(sizedFor),
      'deployment.kubernetes.io/max-replicas': String(max),
    },
    metadata: { creationTimestamp: `2026-01-01T00:00:0${second}Z` },
    spec: { replicas },
    status: { replicas, availableReplicas: available },
  });
}

const sized = (replicas: number, surge: number | string = 3): ReturnType<typeof deployment> =>
  deployment({
    spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: surge, maxUnavailable: 2 } } },
  });

describe('isScalingEvent', () => {
  const rows = [
    { name: 'sees a changed size', sets: [set({ name: 'a', replicas: 5, sizedFor: 9 })], expected: true },
    { name: 'sees none when sizes agree', sets: [set({ name: 'a', replicas: 5 })], expected: false },
    { name: 'ignores sets without pods', sets: [set({ name: 'a', replicas: 0, sizedFor: 9 })], expected: false },
    {
      name: 'ignores ReplicaSets without the annotation',
      sets: [replicaSet({ spec: { replicas: 3 } })],
      expected: false,
    },
  ];
  for (const { name, sets, expected } of rows) test(name, () => expect(isScalingEvent(sized(10), sets)).toBe(expected));
});

describe('planScale', () => {
  const rows = [
    {
      name: 'scales the only active ReplicaSet',
      desired: 20,
      current: set({ name: 'new', replicas: 10 }),
      old: [set({ name: 'old', replicas: 0 })],
      expected: { new: 20 },
    },
    {
      name: 'scales the newest ReplicaSet up if none is active',
      desired: 4,
      current: undefined,
      old: [set({ name: 'older', replicas: 0 }), set({ name: 'younger', replicas: 0, second: 5 })],
      expected: { younger: 4 },
    },
    {
      name: 'scales old ReplicaSets down once the new one is complete',
      desired: 10,
      current: set({ name: 'new', replicas: 10 }),
      old: [set({ name: 'old', replicas: 3 })],
      expected: { old: 0 },
    },
    {
      name: 'shares growth in proportion, the rest to the largest',
      desired: 20,
      current: set({ name: 'new', replicas: 5, available: 3, second: 5 }),
      old: [set({ name: 'old', replicas: 8 })],
      expected: { old: 14, new: 9 },
    },
    {
      name: 'shares shrinkage in proportion',
      desired: 5,
      current: set({ name: 'new', replicas: 5, available: 3, second: 5 }),
      old: [set({ name: 'old', replicas: 8 })],
      expected: { old: 5, new: 3 },
    },
    {
      name: 'takes everything away from all when nothing is desired',
      desired: 0,
      current: set({ name: 'new', replicas: 5, available: 3 }),
      old: [set({ name: 'old', replicas: 8 })],
      expected: { old: 0, new: 0 },
    },
  ];
  for (const { name, desired, current, old, expected } of rows) {
    test(name, () => expect(Object.fromEntries(planScale(sized(desired), current, old).sizes)).toEqual(expected));
  }

  test('annotates every set when it shares in proportion', () => {
    const current = set({ name: 'new', replicas: 5, available: 3 });
    expect(planScale(sized(20), current, [set({ name: 'old', replicas: 8 })]).annotateAll).toBe(true);
  });

  test('leaves several active sets alone when the strategy is Recreate', () => {
    const recreate = deployment({ spec: { replicas: 20, strategy: { type: 'Recreate' } } });
    const plan = planScale(recreate, set({ name: 'new', replicas: 5 }), [set({ name: 'old', replicas: 8 })]);
    expect(plan.sizes.size).toBe(0);
  });
});
