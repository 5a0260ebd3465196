import { describe, expect, test } from 'vitest';

import type { Cached, Node } from '../../pkg/api/index.ts';
import { frozen, node } from '../../test/support/builders.ts';
import { areSameBackends, changesBackends, describeBackends, selectBackends } from './backends.ts';

const label = 'node.kubernetes.io/exclude-from-external-load-balancers';

interface Parts {
  readonly name?: string;
  readonly labels?: Record<string, string>;
  readonly taint?: string;
  readonly providerID?: string;
  readonly deletionTimestamp?: string;
}

function machine({ name = 'n', labels = {}, taint, providerID, deletionTimestamp }: Parts = {}): Cached<Node> {
  const taints = taint === undefined ? [] : [{ key: taint, effect: 'NoSchedule' }];
  const base = node({
    metadata: { name, labels },
    spec: { taints, ...(providerID === undefined ? {} : { providerID }) },
  });
  return frozen({
    ...base,
    metadata: { ...base.metadata, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
  });
}

describe('selectBackends', () => {
  const rows = [
    { name: 'a node', parts: {}, expected: true },
    { name: 'a node that is being deleted', parts: { deletionTimestamp: '2026-01-01T00:00:00Z' }, expected: false },
    { name: 'a node with the label', parts: { labels: { [label]: '' } }, expected: false },
    { name: 'a node with the label true', parts: { labels: { [label]: 'true' } }, expected: false },
    { name: 'a node with the label false', parts: { labels: { [label]: 'false' } }, expected: true },
    { name: 'a node with the label F', parts: { labels: { [label]: 'F' } }, expected: true },
    { name: 'a node with the label no, which is no boolean', parts: { labels: { [label]: 'no' } }, expected: false },
    { name: 'a node that the autoscaler deletes', parts: { taint: 'ToBeDeletedByClusterAutoscaler' }, expected: false },
    { name: 'a node with another taint', parts: { taint: 'node.kubernetes.io/not-ready' }, expected: true },
  ];
  for (const { name, parts, expected } of rows) {
    test(`${name}: ${expected ? 'yes' : 'no'}`, () =>
      expect(selectBackends([machine(parts)])).toHaveLength(expected ? 1 : 0));
  }
});

describe('changesBackends', () => {
  const rows = [
    { name: 'a label', after: { labels: { a: 'b' } }, expected: false },
    { name: 'the label that excludes', after: { labels: { [label]: 'true' } }, expected: true },
    { name: 'the machine', after: { providerID: 'x://1' }, expected: true },
    { name: 'a taint alone', after: { taint: 'ToBeDeletedByClusterAutoscaler' }, expected: false },
  ];
  for (const { name, after, expected } of rows) {
    test(`${name}: ${expected ? 'yes' : 'no'}`, () =>
      expect(changesBackends(machine(), machine(after))).toBe(expected));
  }
});

describe('areSameBackends', () => {
  const [a, b] = [machine({ name: 'a', providerID: 'x://1' }), machine({ name: 'b' })];
  const rows = [
    { name: 'none and none', one: [], other: [], expected: true },
    { name: 'another order', one: [a, b], other: [b, a], expected: true },
    { name: 'one more', one: [a], other: [a, b], expected: false },
    { name: 'another node', one: [a], other: [b], expected: false },
    { name: 'another machine', one: [a], other: [machine({ name: 'a', providerID: 'x://2' })], expected: false },
  ];
  for (const { name, one, other, expected } of rows) {
    test(`${name}: ${expected ? 'yes' : 'no'}`, () => expect(areSameBackends(one, other)).toBe(expected));
  }
});

test('describeBackends names twenty nodes at most', () => {
  expect(describeBackends([machine({ name: 'b' }), machine({ name: 'a' })])).toBe('[a b]');
  expect(describeBackends([])).toBe('[]');
  const many = Array.from({ length: 22 }, (_, index) => machine({ name: `n${index}` }));
  expect(describeBackends(many)).toMatch(/^\[n0 n1 .* n9 <2 more>\]$/);
});
