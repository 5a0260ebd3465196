import { describe, expect, test } from 'vitest';

import type { DaemonSet, Pod } from '../../pkg/api/index.ts';
import { daemonSet, node, pod, runningStatus } from '../../test/support/builders.ts';
import { planSync, soonest, syncIntervalMs, type SyncPlan } from './sync.ts';

const nowMs = Date.parse('2026-01-01T00:00:10Z');
const old = (nodeName: string): Pod =>
  pod({
    name: `old-${nodeName}`,
    labels: { 'controller-revision-hash': 'old' },
    spec: { nodeName },
    status: runningStatus(),
  });

function plan(spec: Partial<DaemonSet['spec']>, nodes: readonly string[], pods: readonly Pod[]): SyncPlan {
  return planSync({
    daemonSet: daemonSet({ spec }),
    nodes: nodes.map((name) => node({ name })),
    pods,
    hash: 'new',
    backoffMs: new Map(),
    nowMs,
    allowComparisons: false,
  });
}

describe('planSync', () => {
  test('updates pods once every node has one', () => {
    expect(plan({}, ['a', 'b'], [old('a'), old('b')]).changes.delete).toEqual([old('a')]);
    const { changes } = plan({}, ['a', 'b', 'c'], [old('a'), old('b')]);
    expect(changes).toEqual({ create: ['c'], delete: [] });
  });

  test('updates no pod on delete', () => {
    const changes = plan({ updateStrategy: { type: 'OnDelete' } }, ['a'], [old('a')]).changes;
    expect(changes).toEqual({ create: [], delete: [] });
  });

  test('creates and deletes at most 250 pods each', () => {
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
    const others = names.map((name) => old(`gone-${name}`));
    const unscheduled = others.map((one) => {
      const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [one.spec.nodeName ?? ''] }] };
      const required = { nodeSelectorTerms: [term] };
      const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
      return { ...one, spec: { ...one.spec, nodeName: undefined, affinity } };
    });
    const { changes } = plan({}, names, unscheduled);
    expect([changes.create.length, changes.delete.length]).toEqual([250, 250]);
  });

  test('requeues for the time when the next pod becomes available', () => {
    expect(plan({ minReadySeconds: 15 }, ['a'], [old('a')]).requeueAfterMs).toBe(5000);
    expect(plan({}, ['a'], [old('a')]).requeueAfterMs).toBeUndefined();
  });
});

test('the soonest of several delays', () => {
  expect([soonest(undefined, 5, 3), soonest(undefined)]).toEqual([3, undefined]);
});

test('syncs are further apart the more pods there are, up to 100 ms', () => {
  expect([0, 1, 100, 2500, 50_000].map(syncIntervalMs)).toEqual([0, 2, 20, 100, 100]);
});
