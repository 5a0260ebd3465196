import { describe, expect, test } from 'vitest';

import { ConfigMaps, CoreEvents, defineKind, Deployments, Pods, ReplicaSets, type Kind } from '../../pkg/api/index.ts';
import { selectKinds } from './match-kinds.ts';

const Events = defineKind({ ...CoreEvents, group: 'events.k8s.io' });
const many = Array.from({ length: 12 }, (_, i) =>
  defineKind({ group: 'many.io', version: 'v1', kind: `K${i}`, resource: `k${i}`, namespaced: true }),
);
const served: Kind[] = [ReplicaSets, Pods, Events, CoreEvents, Deployments, ConfigMaps, ...many];
const rule = (apiGroups: string[], resources: string[], apiVersions = ['v1']) => ({
  apiGroups,
  resources,
  apiVersions,
});

const rows = [
  { name: 'in order', rules: [rule(['apps'], ['replicasets', 'deployments'])], expected: ['Deployment', 'ReplicaSet'] },
  { name: 'once', rules: [rule([''], ['pods']), rule([''], ['pods', 'configmaps'])], expected: ['ConfigMap', 'Pod'] },
  { name: 'of every group for an empty one', rules: [rule([''], ['events'])], expected: ['Event', 'Event'] },
  { name: 'not for any group', rules: [rule(['*'], ['pods'])], expected: [] },
  { name: 'not for any version', rules: [rule([''], ['pods'], ['*'])], expected: [] },
  { name: 'not for any resource or subresource', rules: [rule([''], ['*', 'pods/status', 'pods'])], expected: ['Pod'] },
  { name: 'not for another version', rules: [rule(['apps'], ['deployments'], ['v2'])], expected: [] },
  { name: 'not without rules', rules: undefined, expected: [] },
];

describe('a policy is checked for kinds', () => {
  for (const { name, rules, expected } of rows) {
    test(name, () => expect(selectKinds(rules, served).map(({ kind }) => kind)).toEqual(expected));
  }

  test('at most ten of a rule', () => {
    const resources = many.map(({ resource }) => resource);
    expect(selectKinds([rule(['many.io'], resources)], served)).toHaveLength(10);
  });
});
