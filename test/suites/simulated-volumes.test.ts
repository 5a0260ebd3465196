import { expect, test } from 'vitest';

import {
  Nodes,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  StatefulSets,
  StorageClasses,
  VolumeAttachments,
} from '../../pkg/api/index.ts';
import { startTestCluster } from '../../pkg/testing/index.ts';
import { hollowDriver } from '../../pkg/hollow/index.ts';
import { eventually } from '../support/eventually.ts';
import { RandomVolumes, VolumeHistory } from '../support/random-volumes.ts';

const controllers = [
  'statefulset-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-attach-detach-controller',
  'persistentvolumeclaim-protection-controller',
  'persistentvolume-protection-controller',
  'garbage-collector-controller',
];
const expander = 'persistentvolume-expander-controller';
const labels = { app: 'db' };
const podSpec = { containers: [{ name: 'db', image: 'example' }], terminationGracePeriodSeconds: 0 };
const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

function setOf(name: string, storageClassName?: string) {
  const claim = { metadata: { name: 'data' }, spec: { ...storage, ...(storageClassName && { storageClassName }) } };
  return {
    metadata: { namespace: 'default', name },
    spec: {
      replicas: 3,
      serviceName: name,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec },
      volumeClaimTemplates: [claim],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    },
  };
}

test.for([
  ['of the default class', undefined],
  ['that wait for their pods', 'delayed'],
] as const)('a StatefulSet with claims %s comes up, and its volumes go with it', async ([, storageClassName]) => {
  await using cluster = await startTestCluster({ server: 'sandbox', logger: false, nodes: 2, controllers });
  const { client } = cluster;
  await client.create(StorageClasses, {
    metadata: { name: 'delayed' },
    provisioner: hollowDriver,
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await client.create(StatefulSets, setOf('db', storageClassName));
  await cluster.until(StatefulSets, objectKey('default', 'db'), ({ status }) => status?.readyReplicas === 3);
  const claims = await client.list(PersistentVolumeClaims);
  expect(claims.map(({ status }) => status?.phase)).toEqual(['Bound', 'Bound', 'Bound']);
  expect(new Set(claims.map(({ spec }) => spec.volumeName)).size).toBe(3);
  expect(await client.list(VolumeAttachments)).toHaveLength(3);

  await client.delete(StatefulSets, objectKey('default', 'db'));
  for (const { metadata } of claims) await cluster.untilGone(PersistentVolumeClaims, { metadata });
  for (const { spec } of claims)
    await cluster.untilGone(PersistentVolumes, objectKey(undefined, spec.volumeName ?? ''));
});

test('a claim that grows gets a larger volume', async () => {
  await using cluster = await startTestCluster({
    logger: false,
    server: 'sandbox',
    nodes: 1,
    controllers: [...controllers, expander],
  });
  const { client } = cluster;
  const key = objectKey('default', 'data');
  await client.create(PersistentVolumeClaims, { metadata: { namespace: 'default', name: 'data' }, spec: storage });
  await cluster.until(PersistentVolumeClaims, key, ({ status }) => status?.phase === 'Bound');
  const body = { spec: { resources: { requests: { storage: '2Gi' } } } };
  await client.patch(PersistentVolumeClaims, key, body);
  const { spec } = await cluster.until(
    PersistentVolumeClaims,
    key,
    ({ status }) => status?.capacity?.['storage'] === '2Gi',
  );
  const volume = await client.get(PersistentVolumes, objectKey(undefined, spec.volumeName ?? ''));
  expect(volume.spec.capacity).toEqual({ storage: '2Gi' });
});

test('pods run where their volumes are', async () => {
  await using cluster = await startTestCluster({ server: 'sandbox', logger: false, nodes: 3, controllers });
  const { client } = cluster;
  const [, second] = await client.list(Nodes);
  const hostname = second?.metadata.name ?? '';
  const isHost = { key: 'kubernetes.io/hostname', operator: 'In', values: [hostname] };
  await client.create(PersistentVolumes, {
    metadata: { name: 'disk' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      storageClassName: 'local',
      local: { path: '/mnt/disk' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [isHost] }] } },
    },
  });
  const spec = { ...storage, storageClassName: 'local' };
  await client.create(PersistentVolumeClaims, { metadata: { namespace: 'default', name: 'data' }, spec });
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  const names = ['a', 'b', 'c'];
  for (const name of names) {
    await client.create(Pods, { metadata: { namespace: 'default', name }, spec: { ...podSpec, volumes } });
  }
  for (const name of names) {
    const pod = await cluster.until(Pods, objectKey('default', name), ({ status }) => status?.phase === 'Running');
    expect(pod.spec.nodeName).toBe(hostname);
  }
});

test('local volumes of a class without provisioner go to the pods that run where they are', async () => {
  await using cluster = await startTestCluster({ server: 'sandbox', nodes: 3, controllers });
  const { client } = cluster;
  const hosts = (await client.list(Nodes)).map(({ metadata }) => metadata.name).slice(0, 2);
  const metadata = { name: 'local' };
  const provisioner = 'kubernetes.io/no-provisioner';
  await client.create(StorageClasses, { metadata, provisioner, volumeBindingMode: 'WaitForFirstConsumer' });
  const names = ['a', 'b', 'late'];
  for (const name of names) {
    const spec = { ...storage, storageClassName: 'local' };
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }];
    await client.create(PersistentVolumeClaims, { metadata: { namespace: 'default', name }, spec });
    await client.create(Pods, { metadata: { namespace: 'default', name }, spec: { ...podSpec, volumes } });
  }
  const add = (name: string, hostname: string) => {
    const isHost = { key: 'kubernetes.io/hostname', operator: 'In', values: [hostname] };
    const spec = {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '2Gi' },
      storageClassName: 'local',
      local: { path: '/mnt/disk' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [isHost] }] } },
    };
    return client.create(PersistentVolumes, { metadata: { name }, spec });
  };
  for (const host of hosts) await add(`disk-${host}`, host);
  const runningPods = async () => (await client.list(Pods)).filter(({ status }) => status?.phase === 'Running');
  await expect.poll(async () => (await runningPods()).length, { timeout: 10_000 }).toBe(2);
  const claims = await client.list(PersistentVolumeClaims);
  for (const {
    metadata: { name },
    spec,
  } of await runningPods()) {
    const claim = claims.find((each) => each.metadata.name === name);
    expect(claim?.spec.volumeName).toBe(`disk-${spec.nodeName}`);
    expect(Object.keys(claim?.metadata.annotations ?? {})).not.toContain('volume.kubernetes.io/selected-node');
  }
  await add('late', hosts[0] ?? '');
  await expect.poll(async () => (await runningPods()).length, { timeout: 10_000 }).toBe(3);
});

test('a claim that waits for its pod gets the volume that is there, and one is made for the next claim', async () => {
  await using cluster = await startTestCluster({ server: 'sandbox', nodes: 1, controllers });
  const { client } = cluster;
  const metadata = { name: 'delayed' };
  await client.create(StorageClasses, {
    metadata,
    provisioner: hollowDriver,
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await client.create(PersistentVolumes, {
    metadata: { name: 'disk' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      storageClassName: 'delayed',
      csi: { driver: hollowDriver, volumeHandle: 'disk' },
    },
  });
  await cluster.until(PersistentVolumes, objectKey(undefined, 'disk'), ({ status }) => status?.phase === 'Available');
  const volumeOf = async (name: string): Promise<string | undefined> => {
    const spec = { ...storage, storageClassName: 'delayed' };
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }];
    await client.create(PersistentVolumeClaims, { metadata: { namespace: 'default', name }, spec });
    await client.create(Pods, { metadata: { namespace: 'default', name }, spec: { ...podSpec, volumes } });
    await cluster.until(Pods, objectKey('default', name), ({ status }) => status?.phase === 'Running');
    return (await client.get(PersistentVolumeClaims, objectKey('default', name))).spec.volumeName;
  };
  expect(await volumeOf('first')).toBe('disk');
  expect(await volumeOf('second')).toMatch(/^pvc-/);
});

test.for([
  ['that is to be retained', { persistentVolumeReclaimPolicy: 'Retain' }],
  ['whose claimRef was cleared', { persistentVolumeReclaimPolicy: 'Retain', claimRef: null }],
] as const)('a volume %s is gone once an administrator deletes it', async ([, spec]) => {
  await using cluster = await startTestCluster({ server: 'sandbox', logger: false, nodes: 1, controllers });
  const { client } = cluster;
  const key = objectKey('default', 'data');
  await client.create(PersistentVolumeClaims, { metadata: { namespace: 'default', name: 'data' }, spec: storage });
  const claim = await cluster.until(PersistentVolumeClaims, key, ({ status }) => status?.phase === 'Bound');
  const volume = objectKey(undefined, claim.spec.volumeName ?? '');
  const retain = { spec: { persistentVolumeReclaimPolicy: 'Retain' } };
  await client.patch(PersistentVolumes, volume, retain);
  await client.delete(PersistentVolumeClaims, key);
  await cluster.until(PersistentVolumes, volume, ({ status }) => status?.phase === 'Released');
  await client.patch(PersistentVolumes, volume, { spec });
  await client.delete(PersistentVolumes, volume);
  await cluster.untilGone(PersistentVolumes, volume);
  expect(await client.list(PersistentVolumes)).toEqual([]);
});

test('no volume ever has two claims or two nodes, or is reclaimed before its claim and the pods of that are gone', async ({
  signal,
  annotate,
}) => {
  await using cluster = await startTestCluster({ server: 'sandbox', logger: false, nodes: 3, controllers });
  const client = cluster.client.raw;
  const seed = Math.floor(Math.random() * 2 ** 32);
  await annotate(`seed ${seed}`);
  const history = new VolumeHistory();
  const stop = new AbortController();
  const followed = history.follow(client, AbortSignal.any([signal, stop.signal]));
  const users = new RandomVolumes(client, seed, signal);
  await users.run(8, 600);
  await users.end();
  await eventually(async () => {
    const claims = await cluster.client.list(PersistentVolumeClaims);
    const volumes = await cluster.client.list(PersistentVolumes);
    return claims.length === 0 && volumes.every(({ spec }) => spec.persistentVolumeReclaimPolicy === 'Retain');
  }, signal);
  stop.abort();
  await followed;
  expect(history.judge()).toEqual([]);
  expect(history.counts.attached).toBeGreaterThan(10);
  expect(history.counts.bound).toBeGreaterThan(10);
  expect(history.counts.released).toBeGreaterThan(10);
});
