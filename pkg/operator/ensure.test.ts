import { describe, expect, test } from 'vitest';

import { Deployments, Services, type KubeObject } from '../api/index.ts';
import { deployment, service } from '../../test/support/builders.ts';
import { appliedAs, contains, ownedConfiguration, planEnsure } from './ensure.ts';

const owner = deployment({ name: 'owner' });
const configuration = ownedConfiguration({ kind: Deployments, object: owner }, Services, {
  metadata: { name: 'web' },
  spec: { type: 'ClusterIP' },
});
const owned = service({ name: 'web', owner: { kind: Deployments, object: owner } });
const lastApplied = appliedAs(configuration, owned);
/** The server has stored the type in another form. */
const normalized = service({ name: 'web', owner: { kind: Deployments, object: owner }, spec: { type: 'clusterip' } });
const deleted: KubeObject = { ...owned, metadata: { ...owned.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
const changed: KubeObject = service({
  name: 'web',
  owner: { kind: Deployments, object: owner },
  spec: { type: 'NodePort' },
});

describe('planEnsure', () => {
  const rows = [
    { name: 'creates a missing object', existing: undefined, lastApplied, expected: 'create' },
    { name: 'refuses what has no controller', existing: service({ name: 'web' }), lastApplied, expected: 'refuse' },
    { name: 'applies once after a restart', existing: owned, lastApplied: undefined, expected: 'apply' },
    { name: 'leaves an unchanged object', existing: owned, lastApplied, expected: 'leave' },
    { name: 'repairs a changed object', existing: changed, lastApplied, expected: 'apply' },
    {
      name: 'applies a changed configuration',
      existing: owned,
      lastApplied: { ...lastApplied, json: '{}' },
      expected: 'apply',
    },
    {
      name: 'leaves values that the server normalizes',
      existing: normalized,
      lastApplied: appliedAs(configuration, normalized),
      expected: 'leave',
    },
    { name: 'leaves an object that is being deleted', existing: deleted, lastApplied: undefined, expected: 'leave' },
  ];
  for (const { name, expected, ...facts } of rows) {
    test(name, () => expect(planEnsure({ configuration, owner, ...facts })).toBe(expected));
  }
});

describe('ownedConfiguration', () => {
  test('adds kind, namespace and owner', () => {
    expect(configuration).toMatchObject({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'default', ownerReferences: [{ kind: 'Deployment', name: 'owner', controller: true }] },
    });
  });

  test('refuses an object without a name, or in another namespace', () => {
    const own = (metadata: object) => () =>
      ownedConfiguration({ kind: Deployments, object: owner }, Services, { metadata });
    expect(own({ generateName: 'a-' })).toThrow('a name is needed');
    expect(own({ name: 'a', namespace: 'other' })).toThrow('cannot own in other');
  });
});

describe('contains', () => {
  const rows: {
    readonly name: string;
    readonly actual: unknown;
    readonly wanted: unknown;
    readonly expected: boolean;
  }[] = [
    { name: 'more fields than wanted', actual: { a: 1, b: 2 }, wanted: { a: 1 }, expected: true },
    { name: 'another value', actual: { a: 1 }, wanted: { a: 2 }, expected: false },
    { name: 'items with more fields', actual: [{ a: 1, b: 2 }], wanted: [{ a: 1 }], expected: true },
    { name: 'more items', actual: [1, 2], wanted: [1], expected: false },
    { name: 'an inherited name', actual: {}, wanted: { constructor: 'x' }, expected: false },
    { name: 'an empty object that the server dropped', actual: {}, wanted: { a: {} }, expected: true },
    { name: 'an undefined field', actual: {}, wanted: { a: undefined }, expected: true },
  ];
  for (const { name, actual, wanted, expected } of rows) {
    test(`${name}: ${String(expected)}`, () => expect(contains(actual, wanted)).toBe(expected));
  }
});
