import { describe, expect, test } from 'vitest';

import { formatTime, type StatefulSet } from '../../pkg/api/index.ts';
import { creationTime, frozen, pod, runningStatus, statefulSet } from '../../test/support/builders.ts';
import { revisionHashLabel } from '../../pkg/revisions/index.ts';
import { computeStatus, decidesRevisions, isStatusCurrent, nextStatusChangeMs } from './status.ts';

const nowMs = Date.parse(creationTime) + 60_000;
const template = { spec: { containers: [] } };
const versions = { current: { name: 'web-1', template }, update: { name: 'web-2', template } };

interface Row {
  readonly revision?: string;
  readonly phase?: 'none' | 'Pending' | 'ready' | 'unready';
  readonly terminating?: boolean;
  readonly readyForMs?: number;
}

function member({ revision = 'web-1', phase = 'ready', terminating = false, readyForMs = 60_000 }: Row, index: number) {
  const since = formatTime(nowMs - readyForMs);
  const ready = { type: 'Ready', status: phase === 'ready' ? 'True' : 'False', lastTransitionTime: since };
  const running = { ...runningStatus(), conditions: [ready] };
  return frozen(
    pod({
      name: `web-${index}`,
      labels: { [revisionHashLabel]: revision },
      status: phase === 'none' ? {} : phase === 'Pending' ? { phase } : running,
      metadata: terminating ? { deletionTimestamp: creationTime } : {},
    }),
  );
}

function statusOf(pods: readonly Row[], spec: Partial<StatefulSet['spec']> = {}, deletedForUpdate = 0) {
  const set = frozen(statefulSet({ name: 'web', spec: { replicas: pods.length, ...spec } }));
  const { minReadySeconds = 0 } = set.spec;
  const members = pods.map(member);
  return computeStatus({ set, pods: members, versions, collisionCount: 0, deletedForUpdate, minReadySeconds, nowMs });
}

describe('computeStatus', () => {
  const updated: Row = { revision: 'web-2' };
  const rows: { name: string; pods: Row[]; spec?: Partial<StatefulSet['spec']>; deleted?: number; expected: object }[] =
    [
      {
        name: 'counts pods by revision',
        pods: [{}, {}, updated],
        expected: { replicas: 3, readyReplicas: 3, currentReplicas: 2, updatedReplicas: 1, currentRevision: 'web-1' },
      },
      { name: 'does not count a pod without a phase', pods: [{ phase: 'none' }], expected: { replicas: 0 } },
      {
        name: 'counts a terminating pod, but at no revision',
        pods: [{ terminating: true }],
        expected: { replicas: 1, readyReplicas: 1, currentReplicas: 0 },
      },
      {
        name: 'counts a pod as available once it has been ready for long enough',
        pods: [{ readyForMs: 9_000 }, { readyForMs: 10_000 }],
        spec: { minReadySeconds: 10 },
        expected: { readyReplicas: 2, availableReplicas: 1 },
      },
      {
        name: 'takes what was deleted for the update from the current replicas',
        pods: [{}, {}],
        deleted: 1,
        expected: { replicas: 2, currentReplicas: 1 },
      },
      { name: 'never counts below zero', pods: [{ revision: 'web-0' }], deleted: 1, expected: { currentReplicas: 0 } },
      {
        name: 'makes the update revision the current one once all pods are ready at it',
        pods: [updated, updated],
        expected: { currentReplicas: 2, currentRevision: 'web-2', updateRevision: 'web-2' },
      },
      {
        name: 'does not while one is not ready',
        pods: [updated, { ...updated, phase: 'unready' }],
        expected: { currentReplicas: 0, currentRevision: 'web-1', updatedReplicas: 2 },
      },
      {
        name: 'does not with OnDelete',
        pods: [updated],
        spec: { updateStrategy: { type: 'OnDelete' } },
        expected: { currentReplicas: 0, currentRevision: 'web-1' },
      },
      {
        name: 'does not while there are too many',
        pods: [updated, updated],
        spec: { replicas: 1 },
        expected: { currentRevision: 'web-1' },
      },
    ];
  for (const { name, pods, spec, deleted, expected } of rows) {
    test(name, () => expect(statusOf(pods, spec, deleted)).toMatchObject(expected));
  }
});

describe('isStatusCurrent', () => {
  const status = statusOf([{}]);
  const rows = [
    { name: 'the same', known: status, expected: true },
    { name: 'absent counts are zero', known: { ...status, updatedReplicas: undefined }, expected: true },
    { name: 'another collision count alone', known: { ...status, collisionCount: 3 }, expected: true },
    { name: 'a newer generation was observed', known: { ...status, observedGeneration: 7 }, expected: true },
    { name: 'an older generation was observed', known: { ...status, observedGeneration: 0 }, expected: false },
    { name: 'another count', known: { ...status, readyReplicas: 9 }, expected: false },
    { name: 'another revision', known: { ...status, updateRevision: 'web-9' }, expected: false },
    { name: 'no status', known: { replicas: 0 }, expected: false },
  ];
  for (const { name, known, expected } of rows) {
    test(name, () => expect(isStatusCurrent(frozen(statefulSet({ status: known })), status)).toBe(expected));
  }
});

describe('decidesRevisions', () => {
  const status = statusOf([{}]);
  const unset = { type: 'RollingUpdate' };
  const partitioned = { ...unset, rollingUpdate: { partition: 0 } };
  const counted = { ...status, currentReplicas: 9 };
  const rows = [
    { name: 'another current revision', updateStrategy: partitioned, known: { ...status, currentRevision: 'web-9' } },
    { name: 'another count, without settings', updateStrategy: unset, known: counted },
    { name: 'not: another count, with a partition', updateStrategy: partitioned, known: counted },
    { name: 'not: another count, with OnDelete', updateStrategy: { type: 'OnDelete' }, known: counted },
    { name: 'not: other counts', updateStrategy: unset, known: { ...status, readyReplicas: 9, updatedReplicas: 9 } },
  ];
  for (const { name, updateStrategy, known } of rows) {
    const set = frozen(statefulSet({ spec: { updateStrategy }, status: known }));
    test(name, () => expect(decidesRevisions(set, status)).toBe(!name.startsWith('not: ')));
  }
});

describe('nextStatusChangeMs', () => {
  const rows = [
    { name: 'when the next pod becomes available', minReadySeconds: 10, readyForMs: 4_000, expected: 6_000 },
    { name: 'not if all are', minReadySeconds: 10, readyForMs: 20_000, expected: undefined },
    { name: 'not without minReadySeconds', minReadySeconds: 0, readyForMs: 0, expected: undefined },
  ];
  for (const { name, minReadySeconds, readyForMs, expected } of rows) {
    test(name, () => {
      const spec = { minReadySeconds };
      const pods = [member({ readyForMs }, 0)];
      const set = frozen(statefulSet({ spec }));
      expect(nextStatusChangeMs(set, pods, statusOf([{ readyForMs }], spec), nowMs)).toBe(expected);
    });
  }
});
