import { describe, expect, test } from 'vitest';

import { Deployments, ReplicaSets, type ConfigMap } from '../api/index.ts';
import { controllerKeyOf, enqueueControllerOwner } from './handlers.ts';

function child(
  owner?: { apiVersion?: string; kind?: string; name?: string; controller?: boolean },
  resourceVersion = '1',
): ConfigMap {
  const { apiVersion = 'apps/v1', kind = 'Deployment', name = 'web', controller = true } = owner ?? {};
  return {
    metadata: {
      name: 'child',
      namespace: 'default',
      uid: 'child',
      resourceVersion,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(owner === undefined ? {} : { ownerReferences: [{ apiVersion, kind, name, uid: name, controller }] }),
    },
  };
}

describe('controllerKeyOf', () => {
  const rows = [
    { name: 'finds the controller', object: child({}), expected: 'default/web' },
    {
      name: 'accepts another version of the group',
      object: child({ apiVersion: 'apps/v1beta2' }),
      expected: 'default/web',
    },
    { name: 'refuses another group', object: child({ apiVersion: 'example.com/v1' }), expected: undefined },
    { name: 'refuses another kind', object: child({ kind: 'ReplicaSet' }), expected: undefined },
    { name: 'refuses an owner that does not control', object: child({ controller: false }), expected: undefined },
    { name: 'finds nothing on an orphan', object: child(), expected: undefined },
  ];
  for (const { name, object, expected } of rows)
    test(name, () => expect(controllerKeyOf(object, Deployments)).toBe(expected));
});

describe('enqueueControllerOwner', () => {
  test('queues both owners of an object that changes hands', () => {
    const keys = new Set<string>();
    const handler = enqueueControllerOwner<ConfigMap>(keys, ReplicaSets);
    handler.updated?.(child({ kind: 'ReplicaSet', name: 'old' }), child({ kind: 'ReplicaSet', name: 'new' }, '2'));
    expect([...keys].sort()).toEqual(['default/new', 'default/old']);
  });

  test('queues nothing on a resync', () => {
    const keys = new Set<string>();
    const object = child({ kind: 'ReplicaSet' });
    enqueueControllerOwner<ConfigMap>(keys, ReplicaSets).updated?.(object, object);
    expect(keys.size).toBe(0);
  });
});
