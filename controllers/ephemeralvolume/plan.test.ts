import { describe, expect, test } from 'vitest';

import { Pods, type Pod } from '../../pkg/api/index.ts';
import { frozen, persistentVolumeClaim, pod } from '../../test/support/builders.ts';
import { planClaims } from './plan.ts';

const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const labels = { app: 'web', constructor: 'yes' };
const annotations = { note: 'this' };
const ephemeral = (name: string, metadata?: object) => ({
  name,
  ephemeral: { volumeClaimTemplate: { ...(metadata && { metadata }), spec } },
});
const volumes = [ephemeral('a', { labels, annotations }), { name: 'other', emptyDir: {} }, ephemeral('b')];
const user = frozen(pod({ name: 'user', spec: { volumes } }));
const owned = (name: string, owner: Pod | typeof user = user) =>
  frozen(persistentVolumeClaim({ name, owner: { kind: Pods, object: frozen(owner) } }));
const plan = (claims: readonly ReturnType<typeof owned>[], by = user) =>
  planClaims(by, (name) => claims.find(({ metadata }) => metadata.name === name));

describe('for the ephemeral volumes of a pod', () => {
  test('claims are created from their templates, in order, with the pod as controller', () => {
    const owner = {
      apiVersion: 'v1',
      kind: 'Pod',
      name: 'user',
      uid: user.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    const common = { namespace: 'default', ownerReferences: [owner] };
    expect(plan([])).toEqual([
      {
        kind: 'create',
        volume: 'a',
        claim: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'user-a', labels, annotations, ...common },
          spec,
        },
      },
      {
        kind: 'create',
        volume: 'b',
        claim: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'user-b', ...common }, spec },
      },
    ]);
  });

  test('claims that exist are left as they are', () => {
    expect(plan([owned('user-a'), owned('user-b')])).toEqual([]);
  });

  test.each([
    { title: 'nobody controls', claim: frozen(persistentVolumeClaim({ name: 'user-a' })) },
    {
      title: 'an earlier pod of the name controls',
      claim: owned('user-a', pod({ name: 'user', metadata: { uid: 'earlier' } })),
    },
  ])('a claim that $title is a conflict', ({ claim }) => {
    expect(plan([claim, owned('user-b')])).toEqual([
      {
        kind: 'conflict',
        volume: 'a',
        problem: 'PVC default/user-a was not created for pod default/user (pod is not owner)',
      },
    ]);
  });

  test('nothing is done once the pod is being deleted', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(plan([], frozen(pod({ name: 'user', spec: { volumes }, metadata: { deletionTimestamp } })))).toEqual([]);
  });
});
