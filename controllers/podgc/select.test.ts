import { describe, expect, test } from 'vitest';

import type { Node, Pod, PodStatus } from '../../pkg/api/index.ts';
import { frozen, node, pod, runningStatus } from '../../test/support/builders.ts';
import { isForceDeleted, podsByStage, selectTerminated, whyStuck } from './select.ts';

const deletionTimestamp = '2026-01-01T00:00:30Z';
const ended = (name: string, createdSecond: number, status: PodStatus = { phase: 'Succeeded' }): Pod =>
  pod({ name, metadata: { creationTimestamp: `2026-01-01T00:00:${String(createdSecond).padStart(2, '0')}Z` }, status });
const evicted: PodStatus = { phase: 'Failed', reason: 'Evicted' };

describe('selectTerminated', () => {
  const pods = [
    ended('c', 3),
    ended('b', 1),
    ended('late-evicted', 9, evicted),
    ended('a', 1),
    ended('failed', 2, { phase: 'Failed' }),
  ];
  const rows = [
    { name: 'leaves as many as allowed', threshold: 5, expected: [] },
    { name: 'takes evicted pods first', threshold: 4, expected: ['late-evicted'] },
    { name: 'then the oldest, and of the same age by name', threshold: 2, expected: ['late-evicted', 'a', 'b'] },
    { name: 'is off at zero', threshold: 0, expected: [] },
    { name: 'is off below zero', threshold: -1, expected: [] },
  ];
  for (const { name, threshold, expected } of rows) {
    test(name, () => {
      const selected = selectTerminated(frozen(pods), threshold);
      expect(selected.map(({ metadata }) => metadata.name)).toEqual(expected);
    });
  }
});

describe('whyStuck', () => {
  const outOfService = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
  const unready = { conditions: [{ type: 'Ready', status: 'Unknown' }] };
  const bound = { nodeName: 'node' };
  const rows: { name: string; nodeName?: string; node?: Node; reason: string | undefined }[] = [
    { name: 'nobody ends a pod that is on no node', reason: 'unscheduled' },
    { name: 'nor one with an empty node name', nodeName: '', reason: 'unscheduled' },
    { name: 'a healthy node does', ...bound, node: node(), reason: undefined },
    { name: 'an unready node may yet come back', ...bound, node: node({ status: unready }), reason: undefined },
    {
      name: 'an unready node that is out of service will not',
      ...bound,
      node: node({ status: unready, spec: { taints: [outOfService] } }),
      reason: 'out-of-service',
    },
    {
      name: 'the taint counts whatever its effect, and silence as unready',
      ...bound,
      node: node({ status: {}, spec: { taints: [{ ...outOfService, effect: 'NoSchedule' }] } }),
      reason: 'out-of-service',
    },
    {
      name: 'a ready node is in service, whatever its taints',
      ...bound,
      node: node({ spec: { taints: [outOfService] } }),
      reason: undefined,
    },
    { name: 'a node that is gone is left to the quarantine', ...bound, reason: undefined },
  ];
  for (const { name, nodeName, node: given, reason } of rows) {
    test(name, () => {
      const stuck = pod({ metadata: { deletionTimestamp }, ...(nodeName === undefined ? {} : { spec: { nodeName } }) });
      expect(whyStuck(frozen(stuck), given)).toBe(reason);
    });
  }
});

describe('isForceDeleted', () => {
  const going = { deletionTimestamp, deletionGracePeriodSeconds: 0, finalizers: ['example.com/keep'] };
  const rows = [
    { name: 'failed and deleted without grace', metadata: going, status: evicted, expected: true },
    { name: 'not marked as failed yet', metadata: going, status: runningStatus(), expected: false },
    {
      name: 'deleted with grace',
      metadata: { ...going, deletionGracePeriodSeconds: 30 },
      status: evicted,
      expected: false,
    },
    { name: 'not deleted', metadata: {}, status: evicted, expected: false },
  ];
  for (const { name, metadata, status, expected } of rows)
    test(name, () => expect(isForceDeleted(pod({ metadata, status }))).toBe(expected));
});

test('only finished and terminating pods are looked at', () => {
  expect(podsByStage.valuesOf(pod({ status: runningStatus() }))).toEqual([]);
  expect(podsByStage.valuesOf(pod({ status: { phase: 'Succeeded' } }))).toEqual(['finished']);
  expect(podsByStage.valuesOf(pod({ status: { phase: 'Failed' }, metadata: { deletionTimestamp } }))).toEqual([
    'finished',
    'terminating',
  ]);
});
