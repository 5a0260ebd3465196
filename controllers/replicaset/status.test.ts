import { describe, expect, test } from 'vitest';

import type { ReplicaSetStatus } from '../../pkg/api/index.ts';
import { creationTime, frozen, pod, replicaSet, runningStatus } from '../../test/support/builders.ts';
import {
  computeStatus,
  differsInTerminatingOnly,
  isStatusCurrent,
  nextStatusChangeMs,
  type StatusInput,
} from './status.ts';

const createdMs = Date.parse(creationTime);
const labels = { app: 'web' };
const ready = pod({ name: 'ready', labels, status: runningStatus() });
const starting = pod({ name: 'starting', labels, status: runningStatus({ ready: false }) });
const relabelled = pod({ name: 'relabelled', labels: { other: 'label' }, status: runningStatus() });

function input(overrides: Partial<StatusInput> = {}): StatusInput {
  return {
    owner: frozen(replicaSet({ spec: { replicas: 3 } })),
    activePods: frozen([ready, starting, relabelled]),
    terminating: 0,
    failure: undefined,
    nowMs: createdMs + 5000,
    ...overrides,
  };
}

describe('computeStatus', () => {
  test('counts labelled, ready and available pods', () => {
    expect(computeStatus(input({ terminating: 4 }))).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      terminatingReplicas: 4,
      observedGeneration: 1,
      conditions: undefined,
    });
  });

  const ages = [
    { name: 'not before minReadySeconds', seconds: 9.999, available: 0 },
    { name: 'at minReadySeconds', seconds: 10, available: 2 },
  ];
  for (const { name, seconds, available } of ages) {
    test(`counts ready pods as available ${name}`, () => {
      const owner = frozen(replicaSet({ spec: { minReadySeconds: 10 } }));
      expect(computeStatus(input({ owner, nowMs: createdMs + seconds * 1000 })).availableReplicas).toBe(available);
    });
  }

  const failing = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' };
  const other = { type: 'Other', status: 'True' };
  const rows = [
    { name: 'adds FailedCreate', desired: 4, before: [], failure: 'quota', expected: ['FailedCreate: quota'] },
    {
      name: 'adds FailedDelete',
      desired: 1,
      before: [],
      failure: 'webhook',
      expected: ['FailedDelete: webhook'],
    },
    {
      name: 'keeps the first failure',
      desired: 4,
      before: [failing],
      failure: 'later',
      expected: ['FailedCreate: quota'],
    },
    {
      name: 'removes ReplicaFailure after a success, and keeps other conditions',
      desired: 3,
      before: [failing, other],
      failure: undefined,
      expected: ['undefined: undefined'],
    },
  ];
  for (const { name, desired, before, failure, expected } of rows) {
    test(name, () => {
      const owner = frozen(replicaSet({ spec: { replicas: desired }, status: { replicas: 3, conditions: before } }));
      const { conditions = [] } = computeStatus(input({ owner, failure }));
      expect(conditions.map(({ reason, message }) => `${reason}: ${message}`)).toEqual(expected);
    });
  }
});

describe('differsInTerminatingOnly', () => {
  const counts = { replicas: 2, readyReplicas: 2, observedGeneration: 1 };
  const status: ReplicaSetStatus = { ...counts, terminatingReplicas: 1 };
  const rows: { name: string; stored: ReplicaSetStatus; expected: boolean }[] = [
    { name: 'is true when a pod has terminated', stored: { ...counts, terminatingReplicas: 2 }, expected: true },
    { name: 'is true for the first count', stored: counts, expected: true },
    { name: 'is false for the same status', stored: status, expected: false },
    { name: 'is false if another count differs too', stored: { ...counts, replicas: 3 }, expected: false },
  ];
  for (const { name, stored, expected } of rows) {
    test(name, () => expect(differsInTerminatingOnly(replicaSet({ status: stored }), status)).toBe(expected));
  }
});

describe('isStatusCurrent', () => {
  const status: ReplicaSetStatus = {
    replicas: 0,
    fullyLabeledReplicas: 0,
    readyReplicas: 0,
    availableReplicas: 0,
    terminatingReplicas: 0,
    observedGeneration: 1,
  };
  const rows = [
    {
      name: 'the API server omits counts of zero',
      stored: { replicas: 0, terminatingReplicas: 0, observedGeneration: 1 },
      current: true,
    },
    {
      name: 'an absent terminating count is not zero',
      stored: { replicas: 0, observedGeneration: 1 },
      current: false,
    },
    {
      name: 'observedGeneration is older',
      stored: { replicas: 0, terminatingReplicas: 0, observedGeneration: 0 },
      current: false,
    },
    { name: 'a count differs', stored: { replicas: 1, terminatingReplicas: 0, observedGeneration: 1 }, current: false },
  ];
  for (const { name, stored, current } of rows) {
    test(`is ${current}: ${name}`, () => expect(isStatusCurrent(replicaSet({ status: stored }), status)).toBe(current));
  }
});

describe('nextStatusChangeMs', () => {
  test('is when the next pod becomes available', () => {
    const owner = frozen(replicaSet({ spec: { minReadySeconds: 10 } }));
    expect(nextStatusChangeMs(input({ owner, nowMs: createdMs + 4000 }))).toBe(6000);
    expect(nextStatusChangeMs(input({ owner, nowMs: createdMs + 10_000 }))).toBeUndefined();
  });
});
