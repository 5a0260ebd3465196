import { describe, expect, test } from 'vitest';

import { DaemonSets, keyOf, Nodes, Pods, type DaemonSet, type Node, type Pod } from '../../pkg/api/index.ts';
import { container, daemonSet, node, pod, type Described } from '../../test/support/builders.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { daemonSetsByNodeLabel, enqueueChangedNodes, selectConcerned } from './node-changes.ts';

function owner(name: string, nodeSelector?: Record<string, string>, numberMisscheduled = 0): DaemonSet {
  const template = { spec: { containers: [container()], ...(nodeSelector && { nodeSelector }) } };
  return daemonSet({ name, spec: { template }, status: { numberMisscheduled } as never });
}

const podOf = (object: DaemonSet): Pod =>
  pod({ name: `${object.metadata.name}-0`, spec: { nodeName: 'node' }, owner: { kind: DaemonSets, object } });

describe('selectConcerned', () => {
  const ssd = { disk: 'ssd' };
  const rows: {
    name: string;
    owners: DaemonSet[];
    with?: string[];
    node?: Described<Node> | null;
    expected: string[];
  }[] = [
    { name: 'one without a pod that should run', owners: [owner('a')], expected: ['a'] },
    { name: 'not one whose pod is there', owners: [owner('a')], with: ['a'], expected: [] },
    { name: 'not one that selects other nodes', owners: [owner('a', ssd)], expected: [] },
    { name: 'one whose pod must leave', owners: [owner('a', ssd)], with: ['a'], expected: ['a'] },
    { name: 'one that selects the node', owners: [owner('a', ssd)], node: { labels: ssd }, expected: ['a'] },
    {
      name: 'one whose pod is misscheduled',
      owners: [owner('a')],
      with: ['a'],
      node: { spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } },
      expected: ['a'],
    },
    { name: 'one that counts misscheduled pods', owners: [owner('a', undefined, 1)], with: ['a'], expected: ['a'] },
    {
      name: 'those with pods on a deleted node',
      owners: [owner('a'), owner('b')],
      with: ['b'],
      node: null,
      expected: ['b'],
    },
  ];
  for (const { name, owners, with: present = [], node: described = {}, expected } of rows) {
    test(name, () => {
      const there = owners.filter(({ metadata }) => present.includes(metadata.name));
      const change = {
        nodeName: 'node',
        node: described === null ? undefined : node(described),
        pods: new FakeInformer(Pods, there.map(podOf)),
        daemonSets: new FakeInformer(DaemonSets, owners),
      };
      const concerned = selectConcerned(change, { allowComparisons: false });
      expect(concerned).toEqual(expected.map((each) => `default/${each}`));
    });
  }

  test('does not look at DaemonSets that require a label which the node does not have', () => {
    const owners = Array.from({ length: 50 }, (_, index) => owner(`d${index}`, { pool: `p${index}` }));
    const daemonSets = new FakeInformer(DaemonSets, owners);
    const change = {
      nodeName: 'node',
      node: node({ labels: { pool: 'p7' } }),
      pods: new FakeInformer(Pods),
      daemonSets,
    };
    expect(selectConcerned(change, { allowComparisons: false })).toEqual(['default/d7']);
    expect(daemonSets.reads).toBe(1);
  });

  test('the index distinguishes values and labels', () => {
    expect(daemonSetsByNodeLabel.valuesOf(owner('a', { b: 'c', a: 'd' }))).toEqual(['a=d']);
    expect(daemonSetsByNodeLabel.valuesOf(owner('a'))).toEqual(['']);
  });
});

describe('enqueueChangedNodes', () => {
  const enqueued = (before: Described<Node>, after: Described<Node>): string[] => {
    const keys: string[] = [];
    const nodes = new FakeInformer(Nodes, [node(before)]);
    nodes.addHandler(enqueueChangedNodes({ add: (key) => keys.push(key) }));
    keys.length = 0;
    nodes.set(node({ ...after, metadata: { resourceVersion: '2' } }));
    return keys;
  };
  const rows: { name: string; before: Described<Node>; after: Described<Node>; expected: string[] }[] = [
    { name: 'a change of labels', before: {}, after: { labels: { a: 'b' } }, expected: ['node'] },
    {
      name: 'a taint',
      before: {},
      after: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
      expected: ['node'],
    },
    { name: 'no heartbeat', before: {}, after: { status: {} }, expected: [] },
    { name: 'no change from no taints to none', before: { spec: { taints: [] } }, after: { spec: {} }, expected: [] },
  ];
  for (const { name, before, after, expected } of rows)
    test(name, () => expect(enqueued(before, after)).toEqual(expected));

  test('a deleted node', () => {
    const keys: string[] = [];
    enqueueChangedNodes({ add: (key) => keys.push(key) }).deleted?.(node(), false);
    expect(keys).toEqual([keyOf(node())]);
  });
});
