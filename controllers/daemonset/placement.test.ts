import { describe, expect, test } from 'vitest';

import type { Node, PodSpec, Taint, Toleration } from '../../pkg/api/index.ts';
import { container, daemonSet, node, type Described } from '../../test/support/builders.ts';
import { compilePlacement, daemonTolerations } from './placement.ts';

const spec = (fields: Partial<PodSpec>): PodSpec => ({ containers: [container()], ...fields });
const taint = (key: string, effect: string, value?: string): Taint => ({ key, effect, ...(value && { value }) });
const known = (name: string): string => `node.kubernetes.io/${name}`;

describe('compilePlacement', () => {
  const rows: {
    name: string;
    pod?: Partial<PodSpec>;
    node?: Described<Node>;
    expected: 'runs' | 'stays' | 'leaves';
  }[] = [
    { name: 'a plain node', expected: 'runs' },
    { name: 'the node that it names', pod: { nodeName: 'node' }, expected: 'runs' },
    { name: 'another node than it names', pod: { nodeName: 'other' }, expected: 'leaves' },
    { name: 'a node with other labels', pod: { nodeSelector: { disk: 'ssd' } }, expected: 'leaves' },
    {
      name: 'a node with its labels',
      pod: { nodeSelector: { disk: 'ssd' } },
      node: { labels: { disk: 'ssd' } },
      expected: 'runs',
    },
    { name: 'a tainted node', node: { spec: { taints: [taint('a', 'NoSchedule')] } }, expected: 'stays' },
    { name: 'a node that evicts', node: { spec: { taints: [taint('a', 'NoExecute')] } }, expected: 'leaves' },
    {
      name: 'a node that both keeps out and evicts',
      node: { spec: { taints: [taint('a', 'NoSchedule'), taint('b', 'NoExecute')] } },
      expected: 'leaves',
    },
    {
      name: 'a node that prefers others',
      node: { spec: { taints: [taint('a', 'PreferNoSchedule')] } },
      expected: 'runs',
    },
    {
      name: 'a taint that it tolerates',
      pod: { tolerations: [{ key: 'a', operator: 'Exists' }] },
      node: { spec: { taints: [taint('a', 'NoExecute', 'x')] } },
      expected: 'runs',
    },
    {
      name: 'a node in trouble',
      node: {
        spec: {
          taints: [
            taint(known('not-ready'), 'NoExecute'),
            taint(known('unreachable'), 'NoExecute'),
            taint(known('disk-pressure'), 'NoSchedule'),
            taint(known('memory-pressure'), 'NoSchedule'),
            taint(known('pid-pressure'), 'NoSchedule'),
            taint(known('unschedulable'), 'NoSchedule'),
          ],
        },
      },
      expected: 'runs',
    },
    {
      name: 'a node that is not ready',
      node: { spec: { taints: [taint(known('not-ready'), 'NoSchedule')] } },
      expected: 'stays',
    },
    {
      name: 'a node without network',
      node: { spec: { taints: [taint(known('network-unavailable'), 'NoSchedule')] } },
      expected: 'stays',
    },
    {
      name: 'a node without network, on the network of the host',
      pod: { hostNetwork: true },
      node: { spec: { taints: [taint(known('network-unavailable'), 'NoSchedule')] } },
      expected: 'runs',
    },
    {
      name: 'a compared taint',
      pod: { tolerations: [{ key: 'a', operator: 'Gt', value: '1' }] },
      node: { spec: { taints: [taint('a', 'NoExecute', '2')] } },
      expected: 'runs',
    },
  ];
  const placements = {
    runs: { shouldRun: true, shouldContinue: true },
    stays: { shouldRun: false, shouldContinue: true },
    leaves: { shouldRun: false, shouldContinue: false },
  };
  for (const { name, pod = {}, node: described = {}, expected } of rows) {
    test(`${expected}: ${name}`, () => {
      const owner = daemonSet({ spec: { template: { spec: spec(pod) } } });
      expect(compilePlacement(owner, { allowComparisons: true })(node(described))).toEqual(placements[expected]);
    });
  }

  test('comparisons need their gate', () => {
    const tolerations = [{ key: 'a', operator: 'Gt', value: '1' }];
    const owner = daemonSet({ spec: { template: { spec: spec({ tolerations }) } } });
    const tainted = node({ spec: { taints: [taint('a', 'NoExecute', '2')] } });
    expect(compilePlacement(owner, { allowComparisons: false })(tainted)).toEqual(placements.leaves);
  });
});

describe('daemonTolerations', () => {
  const keysOf = (tolerations: readonly Toleration[]): string[] =>
    tolerations.map(({ key = '', effect = '' }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`);
  const added = [
    'not-ready:NoExecute',
    'unreachable:NoExecute',
    'disk-pressure:NoSchedule',
    'memory-pressure:NoSchedule',
    'pid-pressure:NoSchedule',
    'unschedulable:NoSchedule',
  ];

  test('adds those of every daemon pod, in a fixed order', () => {
    expect(keysOf(daemonTolerations(spec({})))).toEqual(added);
    expect(keysOf(daemonTolerations(spec({ hostNetwork: true })))).toEqual([
      ...added,
      'network-unavailable:NoSchedule',
    ]);
  });

  test('keeps those of the template, and takes the place of one that differs in its seconds only', () => {
    const own = { key: 'own', operator: 'Exists' };
    const limited = { key: known('unreachable'), operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
    const tolerations = daemonTolerations(spec({ tolerations: [limited, own] }));
    expect(keysOf(tolerations)).toEqual([
      'unreachable:NoExecute',
      'own:',
      ...added.filter((key) => key !== 'unreachable:NoExecute'),
    ]);
    expect(tolerations[0]).toEqual({ key: known('unreachable'), operator: 'Exists', effect: 'NoExecute' });
  });
});
