import { describe, expect, test } from 'vitest';

import { objectType } from '../schema/index.ts';
import { applyStrategicMerge } from './strategic.ts';

const pod = objectType('io.k8s.api.core.v1.Pod');
const container = (name: string, image = 'a'): object => ({ name, image });

const rows = [
  {
    name: 'merges containers by name',
    object: { spec: { containers: [container('a'), container('b')] } },
    patch: { spec: { containers: [{ name: 'b', image: 'new' }] } },
    expected: { spec: { containers: [container('a'), container('b', 'new')] } },
  },
  {
    name: 'deletes an item by directive',
    object: { spec: { containers: [container('a'), container('b')] } },
    patch: { spec: { containers: [{ name: 'a', $patch: 'delete' }] } },
    expected: { spec: { containers: [container('b')] } },
  },
  {
    name: 'replaces a list by directive',
    object: { spec: { containers: [container('a'), container('b')] } },
    patch: { spec: { containers: [{ $patch: 'replace' }, container('c')] } },
    expected: { spec: { containers: [container('c')] } },
  },
  {
    name: 'orders items, and leaves the other items between them',
    object: { spec: { containers: [container('a'), container('x'), container('b')] } },
    patch: { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } },
    expected: { spec: { containers: [container('x'), container('b'), container('a')] } },
  },
  {
    name: 'adds to a list of plain values',
    object: { metadata: { finalizers: ['a'] } },
    patch: { metadata: { finalizers: ['b', 'a'] } },
    expected: { metadata: { finalizers: ['b', 'a'] } },
  },
  {
    name: 'puts new items before those that are not in the patch',
    object: { status: { conditions: [{ type: 'PodScheduled', status: 'True' }] } },
    patch: { status: { conditions: [{ type: 'Initialized', status: 'True' }] } },
    expected: {
      status: {
        conditions: [
          { type: 'Initialized', status: 'True' },
          { type: 'PodScheduled', status: 'True' },
        ],
      },
    },
  },
  {
    name: 'removes values from a list of plain values',
    object: { metadata: { finalizers: ['a', 'b'] } },
    patch: { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } },
    expected: { metadata: { finalizers: ['b'] } },
  },
  {
    name: 'replaces a list that has no key',
    object: { spec: { containers: [{ name: 'a', args: ['x', 'y'] }] } },
    patch: { spec: { containers: [{ name: 'a', args: ['z'] }] } },
    expected: { spec: { containers: [{ name: 'a', args: ['z'] }] } },
  },
  {
    name: 'deletes fields that are null',
    object: { metadata: { labels: { a: '1', b: '2' } } },
    patch: { metadata: { labels: { a: null } } },
    expected: { metadata: { labels: { b: '2' } } },
  },
  {
    name: 'keeps only the named fields with $retainKeys',
    object: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
    patch: { spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/' } }] } },
    expected: { spec: { volumes: [{ name: 'v', hostPath: { path: '/' } }] } },
  },
  {
    name: 'replaces a map by directive',
    object: { metadata: { labels: { a: '1' } } },
    patch: { metadata: { labels: { $patch: 'replace', b: '2' } } },
    expected: { metadata: { labels: { b: '2' } } },
  },
];

describe('applyStrategicMerge', () => {
  for (const { name, object, patch, expected } of rows) {
    test(name, () => expect(applyStrategicMerge(object, patch, pod)).toEqual(expected));
  }
});
