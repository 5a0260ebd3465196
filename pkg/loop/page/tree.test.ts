import { describe, expect, test } from 'vitest';

import type { Item } from '../protocol.ts';
import { buildForest, emptyForest, type TreeNode } from './tree.ts';

function item(kind: string, name: string, fields: Partial<Item> = {}): Item {
  return { id: name, kind, resource: kind.toLowerCase(), namespace: 'shop', name, state: 'good', text: '', ...fields };
}

const items = [
  item('Node', 'node-1', { namespace: undefined }),
  item('Deployment', 'web'),
  item('ReplicaSet', 'web-1', { owner: 'web' }),
  item('Pod', 'web-1-a', { owner: 'web-1', node: 'node-1' }),
  item('Pod', 'web-1-b', { owner: 'web-1' }),
  item('Service', 'front'),
  item('EndpointSlice', 'front-1', { owner: 'front', targets: ['web-1-b', 'gone'] }),
  item('Pod', 'alone', { owner: 'not in the picture' }),
  item('PersistentVolumeClaim', 'data'),
];
const byId = (all: readonly Item[]): Map<string, Item> => new Map(all.map((each) => [each.id, each]));

function outline({ item: { name }, children }: TreeNode): string {
  return children.length === 0 ? name : `${name}(${children.map(outline).join(' ')})`;
}

describe('buildForest', () => {
  test('puts what is owned below its owner, and pods behind their Service and on their node', () => {
    const { nodes, workloads, services, loosePods, others } = buildForest(byId(items), emptyForest);
    expect(workloads.map(outline)).toEqual(['web(web-1(web-1-a web-1-b))']);
    expect(services.map(outline)).toEqual(['front(front-1(web-1-b))']);
    expect(nodes.map((row) => row.pods.map(({ name }) => name))).toEqual([['web-1-a']]);
    expect(loosePods.map(({ name }) => name)).toEqual(['alone']);
    expect(others.map(outline)).toEqual(['data']);
  });

  test('shares what has not changed, so that it is not drawn again', () => {
    const first = buildForest(byId(items), emptyForest);
    const same = buildForest(byId(items), first);
    expect(same.workloads[0]).toBe(first.workloads[0]);
    expect(same.nodes[0]).toBe(first.nodes[0]);
    const changed = items.map((each) => (each.id === 'web-1-b' ? { ...each, text: 'ready' } : each));
    const second = buildForest(byId(changed), first);
    expect(second.workloads[0]).not.toBe(first.workloads[0]);
    expect(second.services[0]).not.toBe(first.services[0]);
    expect(second.nodes[0]).toBe(first.nodes[0]);
    expect(second.workloads[0]?.children[0]?.children[0]).toBe(first.workloads[0]?.children[0]?.children[0]);
  });

  test('sorts by namespace and name, numbers by value', () => {
    const nodes = ['node-10', 'node-9'].map((name) => item('Node', name, { namespace: undefined }));
    const forest = buildForest(byId(nodes), emptyForest);
    expect(forest.nodes.map((row) => row.item.name)).toEqual(['node-9', 'node-10']);
  });
});
