import { describe, expect, test } from 'vitest';

import type { Pod } from '../../pkg/api/index.ts';
import { daemonSet, node, pod, runningStatus } from '../../test/support/builders.ts';
import { layOut } from './daemon-pods.ts';
import { computeStatus, isRolledOut, isStatusCurrent, statusIntervalMsOf } from './status.ts';

const nowMs = Date.parse('2026-01-01T00:10:00Z');
const podOn = (
  nodeName: string,
  fields: { ready?: boolean; labels?: Record<string, string>; age?: number } = {},
): Pod =>
  pod({
    name: `${nodeName}-${fields.age ?? 0}`,
    labels: fields.labels ?? { 'controller-revision-hash': 'h' },
    metadata: { creationTimestamp: new Date(nowMs - (fields.age ?? 0) * 1000).toISOString() },
    spec: { nodeName },
    status: runningStatus({ ready: fields.ready ?? true }),
  });
const current = { hash: 'h', templateGeneration: '4' };

describe('computeStatus', () => {
  const nodes = ['a', 'b', 'c', 'd', 'keep-out'].map((name) => node({ name }));
  const owner = daemonSet({ metadata: { generation: 7 }, status: { collisionCount: 2 } as never });
  const layout = layOut(
    nodes,
    [
      podOn('a'),
      podOn('b', { ready: false }),
      podOn('c', { labels: { 'pod-template-generation': '4' }, age: 9 }),
      podOn('c', { ready: false, labels: {}, age: 1 }),
      podOn('keep-out'),
      podOn('gone'),
    ],
    ({ metadata }) => ({ shouldRun: metadata.name !== 'keep-out', shouldContinue: true }),
  );

  test('counts nodes, the oldest pod of each, and keeps the collision count', () => {
    expect(computeStatus({ daemonSet: owner, layout, current, nowMs })).toEqual({
      desiredNumberScheduled: 4,
      currentNumberScheduled: 3,
      numberMisscheduled: 1,
      numberReady: 2,
      updatedNumberScheduled: 3,
      numberAvailable: 2,
      numberUnavailable: 2,
      observedGeneration: 7,
      collisionCount: 2,
      conditions: undefined,
    });
  });

  test('counts pods as available once they have been ready for long enough', () => {
    const patient = daemonSet({ spec: { minReadySeconds: 3600 } });
    const { numberReady, numberAvailable } = computeStatus({ daemonSet: patient, layout, current, nowMs });
    expect([numberReady, numberAvailable]).toEqual([2, 0]);
  });
});

describe('isStatusCurrent', () => {
  const counts = { currentNumberScheduled: 1, desiredNumberScheduled: 1, numberMisscheduled: 0, numberReady: 1 };
  const status = {
    ...counts,
    updatedNumberScheduled: 0,
    numberAvailable: 1,
    numberUnavailable: 0,
    observedGeneration: 1,
  };

  test('takes an absent count for zero', () => {
    const owner = daemonSet({ status: { ...counts, numberAvailable: 1, observedGeneration: 1 } });
    expect(isStatusCurrent(owner, status)).toBe(true);
  });

  test('is false while a count or the generation differs', () => {
    const behind = daemonSet({
      metadata: { generation: 2 },
      status: { ...counts, numberAvailable: 1, observedGeneration: 1 },
    });
    expect(isStatusCurrent(behind, status)).toBe(false);
    const other = daemonSet({ status: { ...counts, observedGeneration: 1 } });
    expect(isStatusCurrent(other, status)).toBe(false);
  });
});

describe('isRolledOut', () => {
  const complete = {
    currentNumberScheduled: 2,
    desiredNumberScheduled: 2,
    numberMisscheduled: 0,
    numberReady: 2,
    updatedNumberScheduled: 2,
    numberAvailable: 2,
  };
  const rows: { name: string; differs: Partial<typeof complete>; expected: boolean }[] = [
    { name: 'is true when every node has an available pod of the current revision', differs: {}, expected: true },
    { name: 'is false while a pod is not available', differs: { numberAvailable: 1 }, expected: false },
    { name: 'is false while a pod has an older revision', differs: { updatedNumberScheduled: 1 }, expected: false },
    { name: 'is false while a node must not have its pod', differs: { numberMisscheduled: 1 }, expected: false },
  ];
  for (const { name, differs, expected } of rows) {
    test(name, () => expect(isRolledOut({ ...complete, ...differs })).toBe(expected));
  }
});

describe('statusIntervalMsOf', () => {
  const rows = [
    { name: 'is that of other owners for a few nodes', nodes: 3, expected: 50 },
    { name: 'grows with the nodes', nodes: 100, expected: 500 },
    { name: 'is at most a second', nodes: 5000, expected: 1000 },
  ];
  for (const { name, nodes, expected } of rows) {
    test(name, () => expect(statusIntervalMsOf(nodes)).toBe(expected));
  }
});
