import { describe, expect, test } from 'vitest';

import { AbsentOwners } from './absent-owners.ts';
import { areReferences, nextIdentity, partitionDependents, referencesOf, type Identity } from './identity.ts';

const owner: Identity = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'owner', uid: 'u' };
const dependent = (namespace: string, ...references: Partial<Identity>[]) => ({
  namespace,
  owners: references.map((changes) => ({ ...owner, blocks: false, ...changes })),
});

describe('referencesOf', () => {
  const wire = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u', controller: true };

  test('keeps the relevant fields', () => {
    const [reference] = referencesOf([{ ...wire, blockOwnerDeletion: true }]);
    expect(reference).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u', blocks: true });
  });

  const changes = [
    { name: 'nothing', change: {}, same: true },
    { name: 'who controls', change: { controller: false }, same: true },
    { name: 'that it blocks no more', change: { blockOwnerDeletion: false }, same: false },
    { name: 'the name', change: { name: 'other' }, same: false },
    { name: 'the version', change: { apiVersion: 'v2' }, same: false },
  ];
  for (const { name, change, same } of changes) {
    test(`${same ? 'ignores' : 'compares'} references by ${name}`, () => {
      const blocking = { ...wire, blockOwnerDeletion: true };
      expect(areReferences(referencesOf([blocking]), [{ ...blocking, ...change }])).toBe(same);
    });
  }

  test('compares the number of references', () => {
    expect(areReferences(referencesOf([wire]), [wire, wire])).toBe(false);
    expect(areReferences(referencesOf(undefined), undefined)).toBe(true);
    expect(areReferences(referencesOf([wire]), undefined)).toBe(false);
  });
});

describe('partitionDependents', () => {
  const rows = [
    { name: 'one that means it', given: dependent('a', {}), matching: true, other: false },
    { name: 'one of another namespace', given: dependent('b', {}), matching: false, other: true },
    { name: 'one that means another kind', given: dependent('a', { kind: 'Secret' }), matching: false, other: true },
    { name: 'one that means both', given: dependent('a', {}, { name: 'x' }), matching: true, other: true },
    { name: 'one that means another uid', given: dependent('a', { uid: 'x' }), matching: false, other: false },
  ];
  for (const { name, given, matching, other } of rows) {
    test(`puts ${name} where it belongs`, () => {
      const partition = partitionDependents([given], owner);
      expect([partition.matching.length > 0, partition.other.length > 0]).toEqual([matching, other]);
    });
  }

  test('finds an owner outside all namespaces meant from any of them', () => {
    const wide = { ...owner, namespace: '' };
    expect(partitionDependents([dependent('a', {}), dependent('b', {})], wide).matching).toHaveLength(2);
  });
});

describe('nextIdentity', () => {
  test('tries each of the others in order, and starts again', () => {
    const dependents = [
      dependent('a', {}),
      dependent('b', {}),
      dependent('a', { kind: 'Secret' }),
      dependent('a', { kind: 'Secret' }),
      dependent('a', { name: 'x' }),
      dependent('a', { kind: 'Aardvark', uid: 'somebody else' }),
    ];
    const seen: string[] = [];
    let at: Identity | undefined = owner;
    for (let turns = 0; turns < 5 && at !== undefined; turns++) {
      seen.push(`${at.kind} ${at.namespace}/${at.name}`);
      at = nextIdentity(dependents, at);
    }
    expect(seen).toEqual([
      'ConfigMap a/owner',
      'ConfigMap a/x',
      'ConfigMap b/owner',
      'Secret a/owner',
      'ConfigMap a/owner',
    ]);
  });

  test('uses no namespace for a cluster-scoped kind', () => {
    const absent = { ...owner, namespace: '' };
    expect(nextIdentity([dependent('a', {}), dependent('b', {})], absent)).toBeUndefined();
    expect(nextIdentity([dependent('a', { name: 'x' })], absent)).toMatchObject({ name: 'x', namespace: '' });
    expect(nextIdentity([dependent('a', { kind: 'Secret' })], absent)).toMatchObject({
      kind: 'Secret',
      namespace: 'a',
    });
  });
});

describe('AbsentOwners', () => {
  const named = (name: string): Identity => ({ ...owner, name });

  test('drops the least recently used', () => {
    const absent = new AbsentOwners(2);
    absent.add(named('a'));
    absent.add(named('b'));
    expect(absent.has(named('a'))).toBe(true);
    absent.add(named('c'));
    expect(['a', 'b', 'c'].filter((name) => absent.has(named(name)))).toEqual(['a', 'c']);
  });

  test('distinguishes identities by each of their parts', () => {
    const absent = new AbsentOwners();
    absent.add(owner);
    const others = [{ namespace: '' }, { kind: 'x' }, { apiVersion: 'x' }, { uid: 'x' }, { name: 'x' }];
    expect(others.filter((change) => absent.has({ ...owner, ...change }))).toEqual([]);
    expect(absent.has({ ...owner })).toBe(true);
  });
});
