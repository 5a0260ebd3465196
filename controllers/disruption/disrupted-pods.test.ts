import { describe, expect, test } from 'vitest';

import { formatTime, type Pod } from '../../pkg/api/index.ts';
import { disruptionBudget, frozen, pod, runningStatus } from '../../test/support/builders.ts';
import { countHealthyPods, selectDisruptedPods } from './disrupted-pods.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const ago = (seconds: number): string => formatTime(nowMs - seconds * 1000);
const named = (name: string, shape: { ready?: boolean; deleted?: boolean } = {}): Pod =>
  pod({
    name,
    status: runningStatus({ ready: shape.ready ?? true }),
    metadata: shape.deleted === true ? { deletionTimestamp: ago(0) } : {},
  });
const budgetOf = (disruptedPods: Record<string, string>) =>
  frozen(
    disruptionBudget({
      status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0, disruptedPods },
    }),
  );

interface Row {
  readonly name: string;
  readonly recorded: Record<string, string>;
  readonly pods: readonly Pod[];
  readonly waiting: readonly string[];
  readonly notDeleted?: readonly string[];
  readonly healthy: number;
  readonly inMs?: number;
}

const rows: Row[] = [
  { name: 'nothing was evicted', recorded: {}, pods: [named('a')], waiting: [], healthy: 1 },
  {
    name: 'an evicted pod is waited for, and not healthy',
    recorded: { a: ago(10) },
    pods: [named('a'), named('b')],
    waiting: ['a'],
    healthy: 1,
    inMs: 110_000,
  },
  {
    name: 'a terminating pod is dropped, and not healthy',
    recorded: { a: ago(10) },
    pods: [named('a', { deleted: true })],
    waiting: [],
    healthy: 0,
  },
  { name: 'a deleted pod is dropped', recorded: { a: ago(10) }, pods: [named('b')], waiting: [], healthy: 1 },
  {
    name: 'an eviction without a deletion is dropped after two minutes',
    recorded: { a: ago(121) },
    pods: [named('a')],
    waiting: [],
    notDeleted: ['a'],
    healthy: 1,
  },
  {
    name: 'after two minutes exactly the pod is healthy, and the eviction still recorded',
    recorded: { a: ago(120) },
    pods: [named('a')],
    waiting: ['a'],
    healthy: 1,
    inMs: 0,
  },
  {
    name: 'the eviction that times out first is the next to check',
    recorded: { a: ago(10), b: ago(60), c: ago(20) },
    pods: [named('a'), named('b'), named('c')],
    waiting: ['a', 'b', 'c'],
    healthy: 0,
    inMs: 60_000,
  },
  {
    name: 'a time that is null has passed long ago',
    recorded: { a: null as unknown as string },
    pods: [named('a')],
    waiting: [],
    notDeleted: ['a'],
    healthy: 1,
  },
  {
    name: 'a pod has the name of an inherited property',
    recorded: {},
    pods: [named('constructor')],
    waiting: [],
    healthy: 1,
  },
  {
    name: 'a pod that is not ready is not healthy',
    recorded: {},
    pods: [named('a', { ready: false })],
    waiting: [],
    healthy: 0,
  },
];

describe('disrupted pods', () => {
  for (const { name, recorded, pods, waiting, notDeleted = [], healthy, inMs } of rows) {
    test(name, () => {
      const result = selectDisruptedPods(budgetOf(recorded), frozen(pods), nowMs);
      expect(Object.keys(result.waiting)).toEqual(waiting);
      expect(result.notDeleted.map(({ metadata }) => metadata.name)).toEqual(notDeleted);
      expect(result.nextTimeoutMs).toBe(inMs === undefined ? undefined : nowMs + inMs);
      expect(countHealthyPods(frozen(pods), result.waiting, nowMs)).toBe(healthy);
    });
  }
});
