import { describe, expect, test } from 'vitest';

import type { DaemonSet, Pod } from '../../pkg/api/index.ts';
import { daemonSet, node, pod, runningStatus } from '../../test/support/builders.ts';
import { layOut } from './daemon-pods.ts';
import { planRollingUpdate } from './rolling.ts';

const nowMs = Date.parse('2026-01-01T00:10:00Z');
type Strategy = NonNullable<NonNullable<DaemonSet['spec']['updateStrategy']>['rollingUpdate']>;

/** `old`, `new`, with `!` not ready, with `-` terminating; several on one node with `+`. Prefixed `x:`: should not run. */
function podsOn(nodeName: string, described: string): Pod[] {
  const texts = described
    .replace('x:', '')
    .split('+')
    .filter((text) => text !== '');
  return texts.map((text, index) =>
    pod({
      name: `${nodeName}-${text.replace(/\W/g, '')}${index}`,
      labels: { 'controller-revision-hash': text.startsWith('new') ? 'h2' : 'h1' },
      metadata: text.includes('-') ? { deletionTimestamp: '2026-01-01T00:09:00Z' } : {},
      spec: { nodeName },
      status: runningStatus({ ready: !text.includes('!') }),
    }),
  );
}

describe('planRollingUpdate', () => {
  const rows: {
    name: string;
    strategy: Strategy;
    nodes: string[];
    create?: string[];
    remove?: string[];
  }[] = [
    { name: 'replaces one pod at a time', strategy: { maxUnavailable: 1 }, nodes: ['old', 'old'], remove: ['n0-old0'] },
    {
      name: 'replaces a share of the pods, rounded up',
      strategy: { maxUnavailable: '50%' },
      nodes: ['old', 'old', 'old'],
      remove: ['n0-old0', 'n1-old0'],
    },
    { name: 'waits for a new pod to be available', strategy: { maxUnavailable: 1 }, nodes: ['new!', 'old'] },
    { name: 'counts a node without a pod', strategy: { maxUnavailable: 1 }, nodes: ['', 'old'] },
    { name: 'counts a terminating pod', strategy: { maxUnavailable: 1 }, nodes: ['old-', 'old'] },
    { name: 'counts a crowded node', strategy: { maxUnavailable: 1 }, nodes: ['new+new', 'old'] },
    { name: 'counts a node with both', strategy: { maxUnavailable: 1 }, nodes: ['old+new', 'old'] },
    {
      name: 'always replaces old pods that are not available',
      strategy: { maxUnavailable: 1 },
      nodes: ['old!', 'old!', 'old'],
      remove: ['n0-old0', 'n1-old0'],
    },
    { name: 'replaces nothing that is updated', strategy: { maxUnavailable: 1 }, nodes: ['new', 'new'] },
    {
      name: 'proceeds even if the limits say never',
      strategy: { maxUnavailable: 0, maxSurge: 0 },
      nodes: ['old', 'old'],
      remove: ['n0-old0'],
    },
    { name: 'creates a new pod first with surge', strategy: { maxSurge: 1 }, nodes: ['old', 'old'], create: ['n0'] },
    {
      name: 'surges by a share of the nodes',
      strategy: { maxSurge: '50%' },
      nodes: ['old', 'old', 'old'],
      create: ['n0', 'n1'],
    },
    { name: 'does not surge twice', strategy: { maxSurge: 1 }, nodes: ['old+new!', 'old'] },
    {
      name: 'removes an old pod whose successor is available',
      strategy: { maxSurge: 1 },
      nodes: ['old+new', 'old'],
      create: ['n1'],
      remove: ['n0-old0'],
    },
    {
      name: 'always replaces old pods that are not available, beside the surge',
      strategy: { maxSurge: 1 },
      nodes: ['old!', 'old!', 'old'],
      create: ['n0', 'n1', 'n2'],
    },
    { name: 'takes a crowded node for a surge', strategy: { maxSurge: 1 }, nodes: ['new+new', 'old'] },
    {
      name: 'removes an unavailable old pod from where none should run',
      strategy: { maxSurge: 1 },
      nodes: ['x:old!', 'new'],
      remove: ['n0-old0'],
    },
    {
      name: 'keeps an available old pod where none should run until enough others are available',
      strategy: { maxSurge: 1 },
      nodes: ['x:old', 'new!'],
    },
    {
      name: 'removes it then',
      strategy: { maxSurge: 1 },
      nodes: ['x:old', 'new'],
      remove: ['n0-old0'],
    },
  ];
  for (const { name, strategy, nodes, create = [], remove = [] } of rows) {
    test(name, () => {
      const pods = nodes.flatMap((text, index) => podsOn(`n${index}`, text));
      const kept = new Map(nodes.map((text, index) => [`n${index}`, text.startsWith('x:')]));
      const layout = layOut(
        nodes.map((_, index) => node({ name: `n${index}` })),
        pods,
        ({ metadata }) => ({ shouldRun: kept.get(metadata.name) !== true, shouldContinue: true }),
      );
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate: strategy };
      const owner = daemonSet({ spec: { updateStrategy } });
      const plan = planRollingUpdate({
        daemonSet: owner,
        layout,
        current: { hash: 'h2', templateGeneration: undefined },
        nowMs,
      });
      expect(plan.create).toEqual(create);
      expect(plan.delete.map(({ metadata }) => metadata.name)).toEqual(remove);
    });
  }

  test('leaves a surge pod of a deleted node to the garbage collector', () => {
    const layout = layOut([], podsOn('gone', 'old'), () => ({ shouldRun: true, shouldContinue: true }));
    const owner = daemonSet({ spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } });
    const current = { hash: 'h2', templateGeneration: undefined };
    expect(planRollingUpdate({ daemonSet: owner, layout, current, nowMs })).toEqual({ create: [], delete: [] });
  });
});
