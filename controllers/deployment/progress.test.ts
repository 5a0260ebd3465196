import { describe, expect, test } from 'vitest';

import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../pkg/api/index.ts';
import { creationTime, deployment, frozen, replicaSet } from '../../test/support/builders.ts';
import { computeRolloutStatus, hasProgressDeadline, nextProgressCheckMs } from './progress.ts';

const createdMs = Date.parse(creationTime);
const later = '2026-01-01T00:01:00Z';
const nowMs = Date.parse(later);

const progressing = (reason: string, status = 'True'): DeploymentCondition => ({
  type: 'Progressing',
  status,
  reason,
  message: 'before',
  lastUpdateTime: creationTime,
  lastTransitionTime: creationTime,
});

function web(spec: Partial<Deployment['spec']> = {}, status: DeploymentStatus = {}): Deployment {
  return deployment({ name: 'web', spec: { replicas: 3, ...spec }, status });
}

const set = (name: string, replicas: number, available = replicas): ReplicaSet =>
  replicaSet({
    name,
    spec: { replicas },
    status: { replicas, readyReplicas: available, availableReplicas: available },
  });

const known: DeploymentStatus = { replicas: 3, updatedReplicas: 3, readyReplicas: 1, availableReplicas: 1 };

interface Judged {
  readonly owner?: Deployment;
  readonly before?: DeploymentCondition;
  readonly current?: ReplicaSet;
  readonly old?: ReplicaSet[];
  readonly atMs?: number;
}

function conditionsAfter({
  owner = web({}, known),
  before,
  current = set('new', 3, 1),
  old = [],
  atMs = nowMs,
}: Judged) {
  const conditions = before === undefined ? [] : [before];
  const status = { ...owner.status, conditions };
  const input = { deployment: { ...owner, status }, current, old, conditions, countTerminating: true, nowMs: atMs };
  return computeRolloutStatus(frozen(input)).conditions ?? [];
}

const progressAfter = (judged: Judged): Partial<DeploymentCondition> | undefined =>
  conditionsAfter(judged).find(({ type }) => type === 'Progressing');

describe('computeRolloutStatus', () => {
  const created = progressing('NewReplicaSetCreated');
  const rows: { name: string; judged: Judged; expected: Partial<DeploymentCondition> }[] = [
    {
      name: 'complete: all desired pods of the new ReplicaSet are available',
      judged: { before: created, current: set('new', 3) },
      expected: {
        status: 'True',
        reason: 'NewReplicaSetAvailable',
        message: 'ReplicaSet "new" has successfully progressed.',
        lastTransitionTime: creationTime,
        lastUpdateTime: later,
      },
    },
    {
      name: 'more pods available than in the last status: progress',
      judged: { before: created, current: set('new', 3, 2) },
      expected: {
        status: 'True',
        reason: 'ReplicaSetUpdated',
        message: 'ReplicaSet "new" is progressing.',
        lastTransitionTime: creationTime,
        lastUpdateTime: later,
      },
    },
    {
      name: 'fewer old pods: progress too',
      judged: {
        owner: web({}, { ...known, replicas: 6 }),
        before: progressing('ReplicaSetUpdated'),
        old: [set('old', 2)],
      },
      expected: { reason: 'ReplicaSetUpdated', lastUpdateTime: later },
    },
    {
      name: 'no progress within the deadline: no change',
      judged: { before: created },
      expected: created,
    },
    {
      name: 'no progress exactly at the deadline: no change',
      judged: { before: created, atMs: createdMs + 600_000 },
      expected: created,
    },
    {
      name: 'no progress after the deadline: timed out',
      judged: { before: created, atMs: createdMs + 600_001 },
      expected: {
        status: 'False',
        reason: 'ProgressDeadlineExceeded',
        message: 'ReplicaSet "new" has timed out progressing.',
        lastTransitionTime: '2026-01-01T00:10:00Z',
      },
    },
    {
      name: 'progress after the timeout',
      judged: { before: progressing('ProgressDeadlineExceeded', 'False'), current: set('new', 3, 2) },
      expected: { status: 'True', reason: 'ReplicaSetUpdated', lastTransitionTime: later },
    },
    {
      name: 'a completed rollout stays complete when a pod is lost',
      judged: { before: progressing('NewReplicaSetAvailable'), atMs: createdMs + 3_600_000 },
      expected: progressing('NewReplicaSetAvailable'),
    },
  ];
  for (const { name, judged, expected } of rows) {
    test(name, () => expect(progressAfter(judged)).toMatchObject(expected));
  }

  test('without a deadline there is no Progressing condition', () => {
    const owner = web({ progressDeadlineSeconds: 2 ** 31 - 1 }, known);
    expect(progressAfter({ owner, before: created })).toBeUndefined();
  });

  const failing = (name: string, message: string): ReplicaSet => ({
    ...set(name, 3, 1),
    status: {
      replicas: 3,
      conditions: [
        { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message, lastTransitionTime: creationTime },
      ],
    },
  });
  const failureAfter = (judged: Judged): Partial<DeploymentCondition> | undefined =>
    conditionsAfter(judged).find(({ type }) => type === 'ReplicaFailure');
  const failures: { name: string; judged: Judged; expected: string | undefined }[] = [
    { name: 'of the new set', judged: { current: failing('new', 'quota') }, expected: 'quota' },
    { name: 'of an old set', judged: { old: [set('a', 1), failing('old', 'old quota')] }, expected: 'old quota' },
    {
      name: 'of the new set rather than of an old one',
      judged: { current: failing('new', 'quota'), old: [failing('old', 'old quota')] },
      expected: 'quota',
    },
    { name: 'of none', judged: {}, expected: undefined },
  ];
  for (const { name, judged, expected } of failures) {
    test(`copies the failure ${name}`, () => expect(failureAfter(judged)?.message).toBe(expected));
  }

  test('copies the time of a failure', () => {
    const judged = { current: failing('new', 'quota') };
    expect(failureAfter(judged)).toMatchObject({ lastUpdateTime: creationTime, lastTransitionTime: creationTime });
  });

  test('removes a failure that is resolved', () => {
    const before = { ...progressing('FailedCreate'), type: 'ReplicaFailure' };
    expect(failureAfter({ before })).toBeUndefined();
  });
});

describe('hasProgressDeadline', () => {
  const rows = [
    { progressDeadlineSeconds: 600, expected: true },
    { progressDeadlineSeconds: 2 ** 31 - 1, expected: false },
    { progressDeadlineSeconds: undefined, expected: false },
  ];
  for (const { progressDeadlineSeconds, expected } of rows) {
    test(`${String(progressDeadlineSeconds)}: ${expected}`, () => {
      const { progressDeadlineSeconds: _, ...spec } = web().spec;
      const described = progressDeadlineSeconds === undefined ? spec : { ...spec, progressDeadlineSeconds };
      expect(hasProgressDeadline({ ...web(), spec: described })).toBe(expected);
    });
  }
});

describe('nextProgressCheckMs', () => {
  const complete = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, observedGeneration: 1 };
  const rows = [
    { name: 'a second after the deadline', reason: 'ReplicaSetUpdated', status: known, expected: 541_000 },
    { name: 'a second from now when it has passed', reason: 'X', status: known, atMs: createdMs + 1e9, expected: 1000 },
    { name: 'never for a complete one', reason: 'NewReplicaSetCreated', status: complete, expected: undefined },
    { name: 'never after the timeout', reason: 'ProgressDeadlineExceeded', status: known, expected: undefined },
    {
      name: 'never for one that succeeded and lost a pod',
      reason: 'NewReplicaSetAvailable',
      status: known,
      expected: undefined,
    },
  ];
  for (const { name, reason, status, atMs = nowMs, expected } of rows) {
    test(name, () => {
      expect(nextProgressCheckMs(web(), { ...status, conditions: [progressing(reason)] }, atMs)).toBe(expected);
    });
  }

  test('a second from now for a condition whose time is null, which counts as long past', () => {
    const conditions = [{ ...progressing('ReplicaSetUpdated'), lastUpdateTime: null }];
    expect(nextProgressCheckMs(web(), { ...known, conditions }, nowMs)).toBe(1000);
  });

  test('never without a condition to start from', () => {
    expect(nextProgressCheckMs(web(), known, nowMs)).toBeUndefined();
  });
});
