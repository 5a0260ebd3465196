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
    { name: 'selects no pod at the threshold', threshold: 5, expected: [] },
    { name: 'selects evicted pods first', threshold: 4, expected: ['late-evicted'] },
    {
      name: 'then selects the oldest, ordered by name within one age',
      threshold: 2,
      expected: ['late-evicted', 'a', 'b'],
    },
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
    { name: 'a pod without a node is stuck', reason: 'unscheduled' },
    { name: 'a pod with an empty node name is stuck', nodeName: '', reason: 'unscheduled' },
    { name: 'a pod on a ready node is not stuck', ...bound, node: node(), reason: undefined },
    {
      name: 'a pod on a node that is not ready is not stuck',
      ...bound,
      node: node({ status: unready }),
      reason: undefined,
    },
    {
      name: 'a pod on a node that is not ready and out of service is stuck',
      ...bound,
      node: node({ status: unready, spec: { taints: [outOfService] } }),
      reason: 'out-of-service',
    },
    {
      name: 'the taint counts with any effect, and an absent Ready condition counts as not ready',
      ...bound,
      node: node({ status: {}, spec: { taints: [{ ...outOfService, effect: 'NoSchedule' }] } }),
      reason: 'out-of-service',
    },
    {
      name: 'a pod on a ready node with the taint is not stuck',
      ...bound,
      node: node({ spec: { taints: [outOfService] } }),
      reason: undefined,
    },
    { name: 'a pod on a missing node is left to the quarantine', ...bound, reason: undefined },
  ];
  for (const { name, nodeName, node: given, reason } of rows) {
    test(name, () => {
      const stuck = pod({ metadata: { deletionTimestamp }, ...(nodeName === undefined ? {} : { spec: { nodeName } }) });
      expect(whyStuck(frozen(stuck), given)).toBe(reason);
    });
  }
});

describe('isForceDeleted', () => {
  const terminatingMetadata = { deletionTimestamp, deletionGracePeriodSeconds: 0, finalizers: ['example.com/keep'] };
  const rows = [
    { name: 'failed and deleted without grace', metadata: terminatingMetadata, status: evicted, expected: true },
    { name: 'not marked as failed yet', metadata: terminatingMetadata, status: runningStatus(), expected: false },
    {
      name: 'deleted with grace',
      metadata: { ...terminatingMetadata, deletionGracePeriodSeconds: 30 },
      status: evicted,
      expected: false,
    },
    { name: 'not deleted', metadata: {}, status: evicted, expected: false },
  ];
  for (const { name, metadata, status, expected } of rows)
    test(name, () => expect(isForceDeleted(pod({ metadata, status }))).toBe(expected));
});

test('podsByStage indexes finished and terminating pods only', () => {
  expect(podsByStage.valuesOf(pod({ status: runningStatus() }))).toEqual([]);
  expect(podsByStage.valuesOf(pod({ status: { phase: 'Succeeded' } }))).toEqual(['finished']);
  expect(podsByStage.valuesOf(pod({ status: { phase: 'Failed' }, metadata: { deletionTimestamp } }))).toEqual([
    'finished',
    'terminating',
  ]);
});
