import { describe, expect, test } from 'vitest';

import type { DaemonSet, Pod } from '../../pkg/api/index.ts';
import { daemonSet, node, pod, runningStatus, type Described } from '../../test/support/builders.ts';
import { layOut } from './daemon-pods.ts';
import { planManage } from './manage.ts';
import type { Placement } from './placement.ts';

const nowMs = Date.parse('2026-01-01T00:10:00Z');
const runs: Placement = { shouldRun: true, shouldContinue: true };
const stays: Placement = { shouldRun: false, shouldContinue: true };
const leaves: Placement = { shouldRun: false, shouldContinue: false };
const surge = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } };

interface On extends Described<Pod> {
  readonly age?: number;
  readonly isNew?: boolean;
  readonly ready?: boolean;
  readonly phase?: string;
  readonly deleted?: boolean;
  readonly unscheduled?: boolean;
}

function onNode(
  name: string,
  { age = 1, isNew = true, ready = true, phase, deleted, unscheduled, ...rest }: On = {},
): Pod {
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node'] }] };
  const required = { nodeSelectorTerms: [term] };
  return pod({
    name,
    labels: { 'controller-revision-hash': isNew ? 'new' : 'old' },
    metadata: {
      creationTimestamp: new Date(nowMs - age * 60_000).toISOString(),
      ...(deleted === true && { deletionTimestamp: '2026-01-01T00:09:00Z' }),
    },
    spec: unscheduled
      ? { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } }
      : { nodeName: 'node' },
    status: phase === undefined ? runningStatus({ ready }) : { phase },
    ...rest,
  });
}

describe('planManage, for one node', () => {
  const rows: {
    name: string;
    placement?: Placement;
    spec?: Partial<DaemonSet['spec']>;
    pods?: Pod[];
    backoffMs?: number;
    create?: boolean;
    remove?: string[];
    ended?: string[];
    requeueAfterMs?: number;
  }[] = [
    { name: 'creates a missing pod', create: true },
    { name: 'creates none where it should not run', placement: stays },
    { name: 'leaves one pod alone', pods: [onNode('a')] },
    { name: 'leaves a pod where it may stay', placement: stays, pods: [onNode('a')] },
    { name: 'removes pods from nodes where they may not run', placement: leaves, pods: [onNode('a')], remove: ['a'] },
    { name: 'removes no pod twice', placement: leaves, pods: [onNode('a', { deleted: true })] },
    { name: 'waits for the deletion of a terminating pod', pods: [onNode('a', { deleted: true })] },
    {
      name: 'does not wait for a finished pod that is being deleted',
      pods: [onNode('a', { deleted: true, phase: 'Failed' })],
      create: true,
    },
    { name: 'does not wait with surge', spec: surge, pods: [onNode('a', { deleted: true })], create: true },
    {
      name: 'keeps the oldest of several',
      pods: [onNode('a', { age: 1 }), onNode('b', { age: 3 }), onNode('c', { age: 2 })],
      remove: ['c', 'a'],
    },
    {
      name: 'prefers a scheduled pod',
      pods: [onNode('a', { age: 3, unscheduled: true }), onNode('b', { age: 1 })],
      remove: ['a'],
    },
    { name: 'deletes a failed pod', pods: [onNode('a', { phase: 'Failed' })], remove: ['a'], ended: ['Failed a'] },
    {
      name: 'deletes a succeeded pod',
      pods: [onNode('a', { phase: 'Succeeded' })],
      remove: ['a'],
      ended: ['Succeeded a'],
    },
    {
      name: 'replaces a failed pod at once with surge',
      spec: surge,
      pods: [onNode('a', { phase: 'Failed' })],
      create: true,
      remove: ['a'],
      ended: ['Failed a'],
    },
    {
      name: 'leaves a failed pod during back-off',
      pods: [onNode('a', { phase: 'Failed' })],
      backoffMs: 4000,
      requeueAfterMs: 4000,
    },
    {
      name: 'deletes one failed pod at a time',
      pods: [onNode('a', { phase: 'Failed' }), onNode('b', { phase: 'Failed' })],
      remove: ['a'],
      ended: ['Failed a'],
      requeueAfterMs: 1000,
    },
    {
      name: 'keeps an old pod beside a new one that is not ready, with surge',
      spec: surge,
      pods: [onNode('old', { isNew: false }), onNode('new', { ready: false })],
    },
    {
      name: 'deletes an old pod once the new one is available',
      spec: surge,
      pods: [onNode('old', { isNew: false }), onNode('new')],
      remove: ['old'],
    },
    {
      name: 'keeps the old pod until the new one has been ready for long enough',
      spec: { ...surge, minReadySeconds: 3600 },
      pods: [onNode('old', { isNew: false }), onNode('new')],
    },
    {
      name: 'deletes an old pod that is not ready',
      spec: surge,
      pods: [onNode('old', { isNew: false, ready: false }), onNode('new', { ready: false })],
      remove: ['old'],
    },
    {
      name: 'keeps one old and one new pod only',
      spec: surge,
      pods: [
        onNode('old', { isNew: false, age: 9 }),
        onNode('old-2', { isNew: false, age: 8 }),
        onNode('new', { ready: false, age: 7 }),
        onNode('new-2', { ready: false, age: 6 }),
      ],
      remove: ['old-2', 'new-2'],
    },
  ];
  for (const { name, placement = runs, spec = {}, pods = [], backoffMs, create = false, ...expected } of rows) {
    test(name, () => {
      const plan = planManage({
        daemonSet: daemonSet({ spec }),
        layout: layOut([node()], pods, () => placement),
        hash: 'new',
        backoffMs: new Map(backoffMs === undefined ? [] : [['node', backoffMs]]),
        nowMs,
      });
      expect(plan.create).toEqual(create ? ['node'] : []);
      expect(plan.delete.map(({ metadata }) => metadata.name)).toEqual(expected.remove ?? []);
      expect(plan.ended.map(({ pod: { metadata }, phase }) => `${phase} ${metadata.name}`)).toEqual(
        expected.ended ?? [],
      );
      expect(plan.requeueAfterMs).toBe(expected.requeueAfterMs);
    });
  }
});

test('a pod that waits for a deleted node is deleted, one that ran there is not', () => {
  const waiting = onNode('waiting', { unscheduled: true });
  const layout = layOut([], [waiting, onNode('ran')], () => runs);
  const plan = planManage({ daemonSet: daemonSet(), layout, hash: 'new', backoffMs: new Map(), nowMs });
  expect(plan.delete).toEqual([waiting]);
});
