import { describe, expect, test } from 'vitest';

import { StorageClasses, type PersistentVolume, type PersistentVolumeClaim } from '../api/index.ts';
import { build, frozen, persistentVolume, persistentVolumeClaim, type Described } from '../../test/support/builders.ts';
import { hollowDriver } from './csi.ts';
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
const classOf = (volumeBindingMode = 'Immediate') =>
  build(StorageClasses, { name: 'sandbox' }, { provisioner: hollowDriver, reclaimPolicy: 'Delete', volumeBindingMode });

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
  const rows = [
    { name: 'deletes a released volume', volume: volumeOf(), expected: 'delete' },
    {
      name: 'lets a deleted volume go',
      volume: volumeOf({ metadata: { deletionTimestamp, finalizers: [finalizer] } }),
      expected: 'let-go',
    },
    {
      name: 'is done then',
      volume: volumeOf({ metadata: { deletionTimestamp, finalizers: ['other'] } }),
      expected: undefined,
    },
    { name: 'keeps a bound volume', volume: volumeOf({ status: { phase: 'Bound' } }), expected: undefined },
    {
      name: 'keeps a retained volume',
      volume: volumeOf({ spec: { persistentVolumeReclaimPolicy: 'Retain' } }),
      expected: undefined,
    },
    { name: 'keeps a volume of another provisioner', volume: volumeOf({ annotations: {} }), expected: undefined },
    { name: 'keeps an attached volume', volume: volumeOf(), isAttached: true, expected: undefined },
  ];
  for (const { name, volume, isAttached = false, expected } of rows)
    test(name, () => expect(planDeletion(volume, isAttached)).toBe(expected));
});
