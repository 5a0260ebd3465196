import { beforeEach, describe, expect, test } from 'vitest';

import { AbsentOwners } from './absent-owners.ts';
import type { ObjectType } from './graph-node.ts';
import { DependencyGraph, type ObservedMeta } from './graph.ts';
import { identityOf, type Identity } from './identity.ts';

const configMap: ObjectType = { apiVersion: 'v1', kind: 'ConfigMap' };
const secret: ObjectType = { apiVersion: 'v1', kind: 'Secret' };
const role: ObjectType = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
const deletionTimestamp = '2026-01-01T00:00:00Z';

/** The calls of the graph since the last read. */
let asked: string[];
let absent: AbsentOwners;
let graph: DependencyGraph;

beforeEach(() => {
  asked = [];
  absent = new AbsentOwners();
  graph = new DependencyGraph(absent, {
    attemptDelete: (uid) => asked.push(`delete ${uid}`),
    attemptOrphan: (uid) => asked.push(`orphan ${uid}`),
    foundForeignOwner: (dependent, owner) => asked.push(`${dependent.uid} has foreign ${owner.uid}`),
  });
});

function taken(): string[] {
  return [...new Set(asked.splice(0))].sort();
}

type Owner = { readonly uid: string; readonly type?: ObjectType; readonly name?: string; readonly blocks?: boolean };

function meta(uid: string, owners: readonly Owner[] = [], more: Partial<ObservedMeta> = {}): ObservedMeta {
  const ownerReferences = owners.map(({ uid: ownerUid, type = configMap, name = ownerUid, blocks = false }) => ({
    ...type,
    name,
    uid: ownerUid,
    blockOwnerDeletion: blocks,
  }));
  return { name: uid, uid, namespace: 'a', ownerReferences, ...more };
}

const identity = (uid: string, more: Partial<Identity> = {}): Identity => {
  return { ...configMap, namespace: 'a', name: uid, uid, ...more };
};

describe('observe', () => {
  test('enqueues nothing for an object observed after its owner', () => {
    graph.observe(configMap, meta('owner'));
    graph.observe(secret, meta('child', [{ uid: 'owner' }]));
    expect(taken()).toEqual([]);
    expect([...(graph.get('owner')?.dependents ?? [])]).toEqual([graph.get('child')]);
  });

  test('enqueues an owner that is not observed, and nothing more once it is', () => {
    graph.observe(secret, meta('child', [{ uid: 'owner' }]));
    expect(taken()).toEqual(['delete owner']);
    expect(graph.get('owner')?.isObserved).toBe(false);
    graph.observe(configMap, meta('owner'));
    expect(taken()).toEqual([]);
    expect(graph.get('owner')?.isObserved).toBe(true);
  });

  test('enqueues the dependents of a deleted owner, and records that it is absent', () => {
    graph.observe(configMap, meta('owner'));
    graph.observe(secret, meta('one', [{ uid: 'owner' }]));
    graph.observe(secret, meta('two', [{ uid: 'owner' }]));
    graph.forget('owner');
    expect(taken()).toEqual(['delete one', 'delete two']);
    expect(absent.has(identity('owner'))).toBe(true);
    expect(graph.get('owner')).toBeUndefined();
  });

  test('does not record absent objects without dependents', () => {
    graph.observe(configMap, meta('owner'));
    graph.forget('owner');
    expect(absent.has(identity('owner'))).toBe(false);
    graph.forget('never seen');
    expect(taken()).toEqual([]);
  });

  test('follows added and removed owners', () => {
    for (const uid of ['x', 'y']) graph.observe(configMap, meta(uid));
    graph.observe(secret, meta('child', [{ uid: 'x' }]));
    graph.observe(secret, meta('child', [{ uid: 'y' }]));
    expect(graph.get('x')?.dependents.size).toBe(0);
    expect(graph.get('y')?.dependents.size).toBe(1);
    graph.observe(secret, meta('child'));
    expect(graph.get('y')?.dependents.size).toBe(0);
    expect(taken()).toEqual([]);
  });

  test('drops a virtual owner without references', () => {
    graph.observe(secret, meta('child', [{ uid: 'owner' }]));
    graph.observe(secret, meta('child'));
    expect(graph.get('owner')).toBeUndefined();
  });

  test('keeps one list of owners for siblings', () => {
    graph.observe(configMap, meta('owner'));
    graph.observe(secret, meta('one', [{ uid: 'owner' }]));
    graph.observe(secret, meta('two', [{ uid: 'owner' }]));
    graph.observe(secret, meta('three', [{ uid: 'owner', blocks: true }]));
    expect(graph.get('two')?.owners).toBe(graph.get('one')?.owners);
    expect(graph.get('three')?.owners).not.toBe(graph.get('one')?.owners);
  });
});

describe('deletion', () => {
  const foreground = { deletionTimestamp, finalizers: ['foregroundDeletion'] };

  test('in the foreground enqueues all dependents and the object once', () => {
    graph.observe(configMap, meta('owner'));
    graph.observe(secret, meta('one', [{ uid: 'owner', blocks: true }]));
    graph.observe(secret, meta('two', [{ uid: 'owner' }]));
    graph.observe(configMap, meta('owner', [], foreground));
    expect(taken()).toEqual(['delete one', 'delete owner', 'delete two']);
    graph.observe(configMap, meta('owner', [], foreground));
    expect(taken()).toEqual([]);
  });

  test('in the foreground also enqueues later dependents', () => {
    graph.observe(configMap, meta('owner', [], foreground));
    taken();
    graph.observe(secret, meta('late', [{ uid: 'owner' }]));
    expect(taken()).toEqual(['delete late']);
  });

  test('with orphan enqueues for orphaning only', () => {
    graph.observe(configMap, meta('owner'));
    graph.observe(secret, meta('one', [{ uid: 'owner' }]));
    graph.observe(configMap, meta('owner', [], { deletionTimestamp, finalizers: ['orphan'] }));
    expect(taken()).toEqual(['orphan owner']);
  });

  test('that has already started continues, as after a restart', () => {
    graph.observe(configMap, meta('waiting', [], foreground));
    graph.observe(configMap, meta('orphaning', [], { deletionTimestamp, finalizers: ['orphan'] }));
    expect(taken()).toEqual(['delete waiting', 'orphan orphaning']);
  });

  test('in the background enqueues nothing before the object is gone', () => {
    graph.observe(configMap, meta('owner'));
    graph.observe(secret, meta('one', [{ uid: 'owner' }]));
    graph.observe(configMap, meta('owner', [], { deletionTimestamp, finalizers: ['example.com/held'] }));
    expect(taken()).toEqual([]);
  });

  const unblocking = [
    { name: 'is gone', change: () => graph.forget('child') },
    { name: 'no longer refers to it', change: () => graph.observe(secret, meta('child')) },
    { name: 'no longer blocks it', change: () => graph.observe(secret, meta('child', [{ uid: 'owner' }])) },
    { name: 'is not watched any more', change: () => graph.unobserve('child') },
  ];
  for (const { name, change } of unblocking) {
    test(`continues when a dependent ${name}`, () => {
      graph.observe(configMap, meta('owner'));
      graph.observe(secret, meta('child', [{ uid: 'owner', blocks: true }]));
      graph.observe(configMap, meta('owner', [], foreground));
      taken();
      change();
      expect(taken()).toEqual(['delete owner']);
    });
  }

  test('waits for dependents that block it, but not in a cycle', () => {
    graph.observe(configMap, meta('a', [{ uid: 'c', blocks: true }], foreground));
    graph.observe(configMap, meta('b', [{ uid: 'a', blocks: true }], foreground));
    graph.observe(configMap, meta('c', [{ uid: 'b', blocks: true }], foreground));
    graph.observe(secret, meta('child', [{ uid: 'a', blocks: true }]));
    graph.observe(secret, meta('other', [{ uid: 'a' }]));
    const blockers = (uid: string): string[] => {
      const node = graph.get(uid);
      return node === undefined ? [] : graph.blockersOf(node).map((blocker) => blocker.uid);
    };
    expect(['a', 'b', 'c'].map(blockers)).toEqual([['child'], [], []]);
  });
});

describe('references that are wrong', () => {
  test('to an owner in another namespace are reported and enqueued, in any order', () => {
    graph.observe(configMap, meta('owner', [], { namespace: 'b' }));
    graph.observe(secret, meta('child', [{ uid: 'owner' }]));
    expect(taken()).toEqual(['child has foreign owner', 'delete child']);

    graph.observe(secret, meta('early', [{ uid: 'late' }]));
    expect(taken()).toEqual(['delete late']);
    graph.observe(configMap, meta('late', [], { namespace: 'b' }));
    expect(taken()).toEqual(['delete early', 'early has foreign late']);
    expect(identityOf(graph.get('late') ?? identity('none'))).toEqual(identity('late', { namespace: 'b' }));
  });

  test('to a cluster-scoped owner are valid', () => {
    graph.observe(role, meta('owner', [], { namespace: undefined }));
    graph.observe(secret, meta('child', [{ uid: 'owner', type: role }]));
    expect(taken()).toEqual([]);
  });

  test('to another name or kind are enqueued, but not reported', () => {
    graph.observe(configMap, meta('owner'));
    graph.observe(secret, meta('one', [{ uid: 'owner', name: 'other' }]));
    graph.observe(secret, meta('two', [{ uid: 'owner', type: secret }]));
    expect(taken()).toEqual(['delete one', 'delete two']);
    graph.observe(secret, meta('one', [{ uid: 'owner', name: 'another' }]));
    expect(taken()).toEqual(['delete one']);
  });
});

describe('confirmAbsent', () => {
  test('removes a virtual owner and enqueues its dependents', () => {
    graph.observe(secret, meta('child', [{ uid: 'owner' }]));
    taken();
    graph.confirmAbsent(identity('owner'));
    expect(graph.get('owner')).toBeUndefined();
    expect(absent.has(identity('owner'))).toBe(true);
    expect(taken()).toEqual(['delete child']);
  });

  test('tries other identities of a virtual owner before it removes it', () => {
    graph.observe(secret, meta('one', [{ uid: 'owner' }]));
    graph.observe(secret, meta('two', [{ uid: 'owner', type: secret }]));
    taken();
    graph.confirmAbsent(identity('owner'));
    expect(taken()).toEqual(['delete one']);
    expect(graph.get('owner')).toMatchObject({ kind: 'Secret', isObserved: false });
    graph.forget('one');
    taken();
    graph.confirmAbsent(identity('owner', secret));
    expect(graph.get('owner')).toBeUndefined();
    expect(taken()).toEqual(['delete two']);
  });

  test('removes an observed object that the API server does not have', () => {
    graph.observe(configMap, meta('owner'));
    graph.observe(secret, meta('child', [{ uid: 'owner' }]));
    graph.confirmAbsent(identity('owner'));
    expect(graph.get('owner')).toBeUndefined();
    expect(taken()).toEqual(['delete child']);
  });

  test('keeps an observed object with that uid and another identity', () => {
    graph.observe(configMap, meta('owner'));
    graph.observe(secret, meta('one', [{ uid: 'owner' }]));
    graph.observe(secret, meta('two', [{ uid: 'owner', name: 'other' }]));
    taken();
    graph.confirmAbsent(identity('owner', { name: 'other' }));
    expect(graph.get('owner')?.isObserved).toBe(true);
    expect(absent.has(identity('owner', { name: 'other' }))).toBe(true);
    expect(taken()).toEqual(['delete two']);
  });

  test('needs one request for a cluster-scoped owner referred to from many namespaces', () => {
    for (const namespace of ['a', 'b', 'c']) {
      graph.observe(secret, meta(`in-${namespace}`, [{ uid: 'owner', type: role }], { namespace }));
    }
    taken();
    graph.confirmClusterWide('owner');
    graph.confirmAbsent({ ...role, namespace: '', name: 'owner', uid: 'owner' });
    expect(taken()).toEqual(['delete in-a', 'delete in-b', 'delete in-c']);
    expect(graph.get('owner')).toBeUndefined();
  });
});

describe('objects that are not watched any more', () => {
  test('are enqueued if they have dependents, and removed if not', () => {
    graph.observe(configMap, meta('owner'));
    graph.observe(configMap, meta('alone'));
    graph.observe(secret, meta('child', [{ uid: 'owner' }]));
    for (const uid of ['owner', 'alone', 'never seen']) graph.unobserve(uid);
    expect(taken()).toEqual(['delete owner']);
    expect(graph.get('owner')?.isObserved).toBe(false);
    expect(graph.size).toBe(2);
  });

  test('are found by type, except for the given uids', () => {
    graph.observe(configMap, meta('one'));
    graph.observe(configMap, meta('two'));
    graph.observe(secret, meta('child', [{ uid: 'virtual' }]));
    const others = [...graph.othersOf(configMap, new Set(['one']))].filter((uid) => uid !== undefined);
    expect(others).toEqual(['two']);
  });

  test('are the same objects when they are served in another version', () => {
    const next: ObjectType = { apiVersion: 'v2', kind: 'ConfigMap' };
    graph.observe(configMap, meta('owner'));
    graph.observe(secret, meta('child', [{ uid: 'owner' }]));
    graph.observe(next, meta('owner'));
    expect([...graph.othersOf(configMap, new Set())].filter((uid) => uid !== undefined)).toEqual([]);
    expect(graph.get('owner')?.dependents.size).toBe(1);
    expect(taken()).toEqual([]);
  });
});
