import { describe, expect, test } from 'vitest';

import type { DeploymentStatus, ReplicaSet, ReplicaSetStatus } from '../../pkg/api/index.ts';
import { creationTime, deployment, frozen, replicaSet } from '../../test/support/builders.ts';
import { computeStatus, isComplete, isSameStatus, type StatusInput } from './status.ts';

const nowMs = Date.parse(creationTime) + 60_000;
const set = (name: string, replicas: number, status: ReplicaSetStatus): ReplicaSet =>
  replicaSet({ name, spec: { replicas }, status });

function input(overrides: Partial<StatusInput> = {}): StatusInput {
  return frozen({
    deployment: deployment({ spec: { replicas: 10 }, metadata: { generation: 7 } }),
    current: set('new', 5, { replicas: 4, readyReplicas: 3, availableReplicas: 2, terminatingReplicas: 1 }),
    old: [set('old', 8, { replicas: 8, readyReplicas: 7, availableReplicas: 6, terminatingReplicas: 2 })],
    conditions: [],
    countTerminating: true,
    nowMs,
    ...overrides,
  });
}

describe('computeStatus', () => {
  test('sums up the counts of the ReplicaSets', () => {
    const { conditions: _, ...counts } = computeStatus(input());
    expect(counts).toEqual({
      observedGeneration: 7,
      replicas: 12,
      updatedReplicas: 4,
      readyReplicas: 10,
      availableReplicas: 8,
      unavailableReplicas: 5,
      terminatingReplicas: 3,
      collisionCount: undefined,
    });
  });

  test('never counts fewer than none as unavailable', () => {
    const shrinking = set('old', 0, { replicas: 3, availableReplicas: 3 });
    expect(computeStatus(input({ current: undefined, old: [shrinking] })).unavailableReplicas).toBe(0);
  });

  const availability = [
    { name: 'enough at exactly the minimum', available: 8, expected: ['True', 'MinimumReplicasAvailable'] },
    { name: 'too few just below it', available: 7, expected: ['False', 'MinimumReplicasUnavailable'] },
  ];
  for (const { name, available, expected } of availability) {
    test(name, () => {
      // Ten are desired and a quarter, rounded down, may be missing.
      const { conditions } = computeStatus(
        input({ old: [], current: set('new', 10, { replicas: 10, availableReplicas: available }) }),
      );
      expect(conditions).toMatchObject([{ type: 'Available', status: expected[0], reason: expected[1] }]);
    });
  }

  const silent = { replicas: 1, observedGeneration: 1 };
  const terminating = [
    { name: 'a ReplicaSet without a status counts as 0', status: { replicas: 0 }, expected: 2 },
    { name: 'one that has been counted without them makes the sum unknown', status: silent, expected: undefined },
    { name: 'a count of 0 counts as 0', status: { ...silent, terminatingReplicas: 0 }, expected: 2 },
  ];
  for (const { name, status, expected } of terminating) {
    test(`terminating replicas: ${name}`, () => {
      expect(computeStatus(input({ current: set('new', 1, status) })).terminatingReplicas).toBe(expected);
    });
  }

  test('terminating replicas are not counted where the gate is off', () => {
    expect(computeStatus(input({ countTerminating: false })).terminatingReplicas).toBeUndefined();
  });
});

describe('isComplete', () => {
  const done: DeploymentStatus = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, observedGeneration: 2 };
  const rows = [
    { name: 'all new and available', status: done, expected: true },
    { name: 'an old pod is left', status: { ...done, replicas: 4 }, expected: false },
    { name: 'one is not updated', status: { ...done, updatedReplicas: 2 }, expected: false },
    { name: 'one is not available', status: { ...done, availableReplicas: 2 }, expected: false },
    { name: 'the status is of an older spec', status: { ...done, observedGeneration: 1 }, expected: false },
    { name: 'there is no status', status: undefined, expected: false },
  ];
  for (const { name, status, expected } of rows) {
    test(`${expected ? 'is' : 'is not'}, when ${name}`, () => {
      expect(isComplete(deployment({ spec: { replicas: 3 }, metadata: { generation: 2 } }), status)).toBe(expected);
    });
  }
});

describe('isSameStatus', () => {
  const rows: { name: string; a: DeploymentStatus; b: DeploymentStatus; expected: boolean }[] = [
    { name: 'a count of zero is as good as none', a: { replicas: 0, conditions: [] }, b: {}, expected: true },
    { name: 'but not for terminating replicas', a: { terminatingReplicas: 0 }, b: {}, expected: false },
    { name: 'nor for the collision count', a: { collisionCount: 0 }, b: {}, expected: false },
    { name: 'counts differ', a: { replicas: 1 }, b: { replicas: 2 }, expected: false },
  ];
  for (const { name, a, b, expected } of rows) test(name, () => expect(isSameStatus(a, b)).toBe(expected));
});
