import { describe, expect, test } from 'vitest';

import {
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../api/index.ts';
import { build, frozen, persistentVolume, persistentVolumeClaim, type Described } from '../../test/support/builders.ts';
import { settle } from '../../test/support/controller-context.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { hollowDriver } from './csi.ts';
import { startHollowNodes } from './hollow-nodes.ts';
import { planDeletion, planVolume } from './provisioner.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
const asked = { 'volume.kubernetes.io/storage-provisioner': hollowDriver };
const claimOf = ({ spec, ...described }: Described<PersistentVolumeClaim> = {}) =>
  frozen(
    persistentVolumeClaim({
      name: 'data',
      annotations: asked,
      ...described,
      spec: { resources: { requests: { storage: '1Gi' } }, volumeMode: 'Filesystem', ...spec },
    }),
  );
const classOf = (volumeBindingMode = 'Immediate', reclaimPolicy = 'Delete') =>
  build(StorageClasses, { name: 'sandbox' }, { provisioner: hollowDriver, reclaimPolicy, volumeBindingMode });

test('a volume is made for a claim that the binder has handed over', () => {
  const { uid, resourceVersion } = claimOf().metadata;
  const name = `pvc-${uid}`;
  expect(planVolume(claimOf(), classOf())).toEqual({
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': hollowDriver }, finalizers: [finalizer] },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      claimRef: {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        namespace: 'default',
        name: 'data',
        uid,
        resourceVersion,
      },
      csi: { driver: hollowDriver, volumeHandle: name },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'sandbox',
      volumeMode: 'Filesystem',
    },
  });
});

test('a volume that is to be retained gets no finalizer: its object stands for nothing to delete', () => {
  const volume = planVolume(claimOf(), classOf('Immediate', 'Retain'));
  expect(volume?.spec.persistentVolumeReclaimPolicy).toBe('Retain');
  expect(volume?.metadata.finalizers).toBeUndefined();
});

describe('no volume is made', () => {
  const rows = [
    { name: 'for a claim of another provisioner', claim: claimOf({ annotations: {} }), storageClass: classOf() },
    { name: 'for a claim that has one', claim: claimOf({ spec: { volumeName: 'a' } }), storageClass: classOf() },
    {
      name: 'for a claim that is being deleted',
      claim: claimOf({ metadata: { deletionTimestamp } }),
      storageClass: classOf(),
    },
    { name: 'without the class', claim: claimOf(), storageClass: undefined },
    { name: 'before a node is selected', claim: claimOf(), storageClass: classOf('WaitForFirstConsumer') },
  ];
  for (const { name, claim, storageClass } of rows)
    test(name, () => expect(planVolume(claim, storageClass)).toBeUndefined());

  test('until a node is selected', () => {
    const claim = claimOf({ annotations: { ...asked, 'volume.kubernetes.io/selected-node': 'a' } });
    expect(planVolume(claim, classOf('WaitForFirstConsumer'))).toBeDefined();
  });
});

describe('planDeletion', () => {
  const volumeOf = ({ spec, ...described }: Described<PersistentVolume> = {}) =>
    frozen(
      persistentVolume({
        annotations: { 'pv.kubernetes.io/provisioned-by': hollowDriver },
        status: { phase: 'Released' },
        metadata: { finalizers: [finalizer] },
        ...described,
        spec: { persistentVolumeReclaimPolicy: 'Delete', ...spec },
      }),
    );
  const metadata = { deletionTimestamp, finalizers: [finalizer] };
  const retained = { persistentVolumeReclaimPolicy: 'Retain' };
  const rows = [
    { name: 'deletes a released volume', volume: volumeOf(), expected: 'delete' },
    { name: 'releases a terminating volume', volume: volumeOf({ metadata }), expected: 'remove-finalizer' },
    {
      name: 'releases a terminating volume that is to be retained',
      volume: volumeOf({ metadata, spec: retained }),
      expected: 'remove-finalizer',
    },
    {
      name: 'releases a terminating volume whose claimRef was cleared',
      volume: volumeOf({ metadata, status: { phase: 'Available' } }),
      expected: 'remove-finalizer',
    },
    { name: 'keeps an available volume', volume: volumeOf({ status: { phase: 'Available' } }), expected: undefined },
    {
      name: 'keeps a terminating volume that is bound',
      volume: volumeOf({ metadata, status: { phase: 'Bound' } }),
      expected: undefined,
    },
    {
      name: 'keeps a terminating volume that is attached',
      volume: volumeOf({ metadata, spec: retained }),
      isAttached: true,
      expected: undefined,
    },
    {
      name: 'is done then',
      volume: volumeOf({ metadata: { deletionTimestamp, finalizers: ['other'] } }),
      expected: undefined,
    },
    { name: 'keeps a bound volume', volume: volumeOf({ status: { phase: 'Bound' } }), expected: undefined },
    {
      name: 'keeps a retained volume',
      volume: volumeOf({ spec: retained }),
      expected: undefined,
    },
    { name: 'keeps a volume of another provisioner', volume: volumeOf({ annotations: {} }), expected: undefined },
    { name: 'keeps an attached volume', volume: volumeOf(), isAttached: true, expected: undefined },
  ];
  for (const { name, volume, isAttached = false, expected } of rows)
    test(name, () => expect(planDeletion(volume, isAttached)).toBe(expected));
});

test('the class of a claim may be an annotation', async () => {
  const clock = new FakeClock();
  const client = new RecordingClient({ now: () => clock.now() });
  const stop = new AbortController();
  const options = { client, clock, logger: silentLogger, nodes: 1, provisionsVolumes: true };
  const hollow = await startHollowNodes(options, stop.signal);
  client.seed(StorageClasses, classOf());
  await settle();
  const annotations = { ...asked, 'volume.beta.kubernetes.io/storage-class': 'sandbox' };
  const spec = { resources: { requests: { storage: '1Gi' } } };
  client.seed(PersistentVolumeClaims, persistentVolumeClaim({ name: 'data', annotations, spec }));
  await settle();
  stop.abort();
  await hollow.stopped;
  expect(client.stored(PersistentVolumes).map(({ spec }) => spec.storageClassName)).toEqual(['sandbox']);
});

test('a claim that grows is resized, also if its volume is observed after it', async () => {
  const clock = new FakeClock();
  const client = new RecordingClient({ now: () => clock.now() });
  const stop = new AbortController();
  const options = { client, clock, logger: silentLogger, nodes: 1, provisionsVolumes: true };
  const hollow = await startHollowNodes(options, stop.signal);
  const { uid } = client.seed(
    PersistentVolumeClaims,
    persistentVolumeClaim({
      name: 'data',
      spec: { resources: { requests: { storage: '2Gi' } }, volumeName: 'disk' },
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    }),
  ).metadata;
  await settle();
  client.seed(
    PersistentVolumes,
    persistentVolume({
      name: 'disk',
      annotations: { 'pv.kubernetes.io/provisioned-by': hollowDriver },
      spec: { capacity: { storage: '1Gi' }, claimRef: { namespace: 'default', name: 'data', uid } },
      status: { phase: 'Bound' },
    }),
  );
  await settle();
  stop.abort();
  await hollow.stopped;
  expect(client.stored(PersistentVolumes)[0]?.spec.capacity).toEqual({ storage: '2Gi' });
  expect(client.stored(PersistentVolumeClaims)[0]?.status?.capacity).toEqual({ storage: '2Gi' });
});
