import { describe, expect, test } from 'vitest';

import type { Pod } from '../../pkg/api/index.ts';
import { frozen, pod, runningStatus } from '../../test/support/builders.ts';
import { planScaling, type ScalingInput } from './scaling.ts';

const nowMs = Date.parse('2026-01-01T01:00:00Z');

function pods(count: number, describe: (index: number) => { node?: string; cost?: string } = () => ({})): Pod[] {
  return Array.from({ length: count }, (_, index) => {
    const { node = 'node', cost } = describe(index);
    return pod({
      name: `pod-${index}`,
      spec: { nodeName: node },
      status: runningStatus(),
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
    });
  });
}

function plan(desired: number, activePods: Pod[], options: Partial<ScalingInput> = {}): string {
  const input = {
    desired,
    activePods: frozen(activePods),
    relatedPods: activePods,
    nowMs,
    honourDeletionCost: true,
  };
  const result = planScaling({ ...input, ...options });
  switch (result.kind) {
    case 'none':
      return 'none';
    case 'create':
      return `create ${result.count}`;
    case 'delete':
      return `delete ${result.pods.map(({ metadata }) => metadata.name).join(' ')}`;
  }
}

describe('planScaling', () => {
  const rows = [
    { name: 'creates the missing pods', desired: 3, active: pods(1), expected: 'create 2' },
    { name: 'creates at most a burst', desired: 1000, active: pods(0), expected: 'create 500' },
    { name: 'does nothing at the desired number', desired: 2, active: pods(2), expected: 'none' },
    { name: 'deletes all when none are desired', desired: 0, active: pods(2), expected: 'delete pod-0 pod-1' },
    {
      name: 'deletes from the crowded node first',
      desired: 2,
      active: pods(3, (index) => ({ node: index === 1 ? 'alone' : 'crowded' })).slice(0, 3),
      expected: 'delete pod-0',
    },
    {
      name: 'deletes the cheapest first',
      desired: 2,
      active: pods(3, (index) => ({ cost: String(3 - index) })),
      expected: 'delete pod-2',
    },
  ];
  for (const { name, desired, active, expected } of rows) {
    test(name, () => expect(plan(desired, active)).toBe(expected));
  }

  test('deletes at most a burst', () => {
    expect(plan(100, pods(700)).split(' ').length - 1).toBe(500);
  });

  test('counts the pods of related owners on a node', () => {
    const own = pods(2, (index) => ({ node: `node-${index}` }));
    const related = [...own, ...pods(3, () => ({ node: 'node-1' }))];
    expect(plan(1, own, { relatedPods: related })).toBe('delete pod-1');
  });
});
