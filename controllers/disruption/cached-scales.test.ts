import { describe, expect, test } from 'vitest';

import {
  controllerReference,
  Deployments,
  ReplicaSets,
  ReplicationControllers,
  StatefulSets,
  type Kind,
  type KubeObject,
  type OwnerReference,
} from '../../pkg/api/index.ts';
import { build, deployment, replicaSet, replicationController } from '../../test/support/builders.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { findCachedScale, type ScaleCaches } from './cached-scales.ts';

const web = deployment({ name: 'web', spec: { replicas: 5 } });
const owned = replicaSet({ name: 'owned', spec: { replicas: 2 }, owner: { kind: Deployments, object: web } });
const gone = deployment({ name: 'gone' });
const orphaned = replicaSet({ name: 'orphaned', owner: { kind: Deployments, object: gone } });
const Rollouts: Kind = { group: 'example.com', version: 'v1', kind: 'Rollout', resource: 'rollouts', namespaced: true };
const rolledOut = replicaSet({ name: 'rolled-out', spec: { replicas: 4 }, owner: { kind: Rollouts, object: web } });
const alone = replicaSet({ name: 'alone', spec: { replicas: 3 } });
const old = replicationController({ name: 'old', spec: { replicas: 7 } });
const database = build(
  StatefulSets,
  { name: 'database' },
  {
    spec: { replicas: 6, selector: {}, serviceName: 'x', template: {} },
  },
);
const caches: ScaleCaches = {
  deployments: new FakeInformer(Deployments, [web]),
  replicaSets: new FakeInformer(ReplicaSets, [owned, alone, orphaned, rolledOut]),
  replicationControllers: new FakeInformer(ReplicationControllers, [old]),
  statefulSets: new FakeInformer(StatefulSets, [database]),
};
const to = (kind: Kind, object: KubeObject): OwnerReference => controllerReference(kind, object);

describe('findCachedScale', () => {
  const rows: { name: string; reference: OwnerReference; found: [string, number] | undefined }[] = [
    { name: 'a ReplicationController', reference: to(ReplicationControllers, old), found: [old.metadata.uid, 7] },
    { name: 'a StatefulSet', reference: to(StatefulSets, database), found: [database.metadata.uid, 6] },
    { name: 'a ReplicaSet on its own', reference: to(ReplicaSets, alone), found: [alone.metadata.uid, 3] },
    { name: 'the Deployment of a ReplicaSet', reference: to(ReplicaSets, owned), found: [web.metadata.uid, 5] },
    { name: 'a ReplicaSet of another kind', reference: to(ReplicaSets, rolledOut), found: [rolledOut.metadata.uid, 4] },
    { name: 'not a ReplicaSet whose Deployment is deleted', reference: to(ReplicaSets, orphaned), found: undefined },
    {
      name: 'a ReplicaSet under its old group',
      reference: { ...to(ReplicaSets, alone), apiVersion: 'extensions/v1beta1' },
      found: [alone.metadata.uid, 3],
    },
    {
      name: 'not another object of the same name',
      reference: { ...to(ReplicaSets, alone), uid: 'other' },
      found: undefined,
    },
    {
      name: 'not a kind of the same name in another group',
      reference: { ...to(ReplicaSets, alone), apiVersion: 'example.com/v1' },
      found: undefined,
    },
    {
      name: 'not a kind without a cache',
      reference: { ...to(ReplicaSets, alone), kind: 'DaemonSet' },
      found: undefined,
    },
  ];
  for (const { name, reference, found } of rows) {
    test(`finds ${name}`, () => {
      const scale = findCachedScale(reference, 'default', caches);
      expect(scale?.kind === 'found' ? [scale.uid, scale.replicas] : scale).toEqual(found);
    });
  }
});
