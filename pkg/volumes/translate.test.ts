import { describe, expect, test } from 'vitest';

import type { PersistentVolume } from '../api/index.ts';
import { csiVolumeOf, inlineCsiVolumeOf, type PodVolume } from './index.ts';

type Spec = PersistentVolume['spec'];

function volume(spec: Spec, metadata: object = {}): PersistentVolume {
  const stored = { name: 'pv', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  return { metadata: { ...stored, ...metadata }, spec };
}

const zone = (value: string) => ({ labels: { 'topology.kubernetes.io/zone': value } });
const gce = { gcePersistentDisk: { pdName: 'disk' } };

describe('the handle of a PersistentVolume', () => {
  const rows: [string, Spec, object, string | undefined][] = [
    ['of a CSI driver is its own', { csi: { driver: 'd', volumeHandle: 'h' } }, {}, 'h'],
    ['of EBS is the id', { awsElasticBlockStore: { volumeID: 'vol-1' } }, {}, 'vol-1'],
    ['of EBS comes after the zone', { awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-1' } }, {}, 'vol-1'],
    ['of EBS comes after no zone', { awsElasticBlockStore: { volumeID: 'aws:///vol-1' } }, {}, 'vol-1'],
    ['of EBS must be an id', { awsElasticBlockStore: { volumeID: 'aws:///disk' } }, {}, undefined],
    ['of GCE has no zone', gce, {}, 'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk'],
    ['of GCE has its zone', gce, zone('us-central1-a'), 'projects/UNSPECIFIED/zones/us-central1-a/disks/disk'],
    [
      'of GCE has its region',
      gce,
      zone('us-central1-a__us-central1-b'),
      'projects/UNSPECIFIED/regions/us-central1/disks/disk',
    ],
    ['of GCE cannot have two regions', gce, zone('us-central1-a__us-east1-b'), undefined],
    ['of GCE needs zones of the known form', gce, zone('a__b'), undefined],
    ['of an Azure disk is its address', { azureDisk: { diskName: 'n', diskURI: '/x/y' } }, {}, '/x/y'],
    ['of an Azure disk that is a file', { azureDisk: { diskName: 'n', diskURI: 'u', kind: 'Shared' } }, {}, undefined],
    [
      'of an Azure share has account, share, volume and namespace',
      { azureFile: { secretName: 'azure-storage-account-acc-secret', shareName: 's' }, claimRef: { namespace: 'ns' } },
      { annotations: { 'kubernetes.io/azure-file-resource-group': 'rg' } },
      'rg#acc#s#pv#ns',
    ],
    ['of an Azure share needs a namespace', { azureFile: { secretName: 'x', shareName: 's' } }, {}, undefined],
    ['of Cinder is the id', { cinder: { volumeID: 'c' } }, {}, 'c'],
    ['of vSphere is the path', { vsphereVolume: { volumePath: '[ds] a.vmdk' } }, {}, '[ds] a.vmdk'],
    ['of Portworx is the id', { portworxVolume: { volumeID: 'p' } }, {}, 'p'],
    ['of NFS does not exist', { nfs: { path: '/', server: 's' } }, {}, undefined],
  ];
  for (const [name, spec, metadata, handle] of rows) {
    test(name, () => expect(csiVolumeOf(volume(spec, metadata))?.csi.volumeHandle).toBe(handle));
  }
});

test.each([
  [['ReadWriteMany'], ['ReadWriteOnce']],
  [['ReadOnlyMany'], ['ReadOnlyMany']],
  [['ReadOnlyMany', 'ReadWriteOnce'], ['ReadWriteOnce']],
  [['ReadWriteOncePod'], ['ReadWriteOnce']],
])('a GCE disk with %s has %s', (accessModes, expected) => {
  expect(csiVolumeOf(volume({ ...gce, accessModes }))?.accessModes).toEqual(expected);
});

describe('a volume of a pod', () => {
  const once = (csi: object) => ({ accessModes: ['ReadWriteOnce'], csi, volumeMode: 'Filesystem' });
  const rows: [string, Omit<PodVolume, 'name'>, object | undefined][] = [
    [
      'of EBS has a partition',
      { awsElasticBlockStore: { volumeID: 'vol-1', fsType: 'ext4', readOnly: true, partition: 2 } },
      {
        accessModes: ['ReadWriteOnce'],
        csi: {
          driver: 'ebs.csi.aws.com',
          volumeHandle: 'vol-1',
          readOnly: true,
          fsType: 'ext4',
          volumeAttributes: { partition: '2' },
        },
        volumeMode: 'Filesystem',
      },
    ],
    [
      'of an Azure share takes the secret of the pod',
      { azureFile: { secretName: 'secret', shareName: 's' } },
      {
        accessModes: ['ReadWriteMany'],
        csi: {
          driver: 'file.csi.azure.com',
          volumeHandle: '#secret#s#data#ns',
          volumeAttributes: { sharename: 's' },
          nodeStageSecretRef: { name: 'secret', namespace: 'ns' },
        },
        volumeMode: 'Filesystem',
      },
    ],
    [
      'of vSphere has a policy',
      { vsphereVolume: { volumePath: 'p', storagePolicyName: 'gold' } },
      {
        accessModes: ['ReadWriteOnce'],
        csi: {
          driver: 'csi.vsphere.vmware.com',
          volumeHandle: 'p',
          volumeAttributes: { storagepolicyname: 'gold' },
        },
        volumeMode: 'Filesystem',
      },
    ],
    [
      'of an Azure disk has its kind, caching and file system',
      { azureDisk: { diskName: 'n', diskURI: '/x/y', cachingMode: 'ReadOnly', fsType: 'xfs', readOnly: true } },
      once({
        driver: 'disk.csi.azure.com',
        volumeHandle: '/x/y',
        readOnly: true,
        fsType: 'xfs',
        volumeAttributes: { kind: 'Managed', cachingmode: 'ReadOnly', fstype: 'xfs' },
      }),
    ],
    [
      'of an Azure disk without more has its kind alone',
      { azureDisk: { diskName: 'n', diskURI: '/x/y', kind: 'managed', cachingMode: '' } },
      once({ driver: 'disk.csi.azure.com', volumeHandle: '/x/y', volumeAttributes: { kind: 'Managed' } }),
    ],
    [
      'of an Azure disk that is a file is not attached',
      { azureDisk: { diskName: 'n', diskURI: '/x/y', kind: 'Dedicated' } },
      undefined,
    ],
    [
      'of Cinder has its file system',
      { cinder: { volumeID: 'c', fsType: 'ext4', readOnly: true } },
      once({ driver: 'cinder.csi.openstack.org', volumeHandle: 'c', readOnly: true, fsType: 'ext4' }),
    ],
    [
      'of Cinder without more has its id alone',
      { cinder: { volumeID: 'c', readOnly: false, fsType: '' } },
      once({ driver: 'cinder.csi.openstack.org', volumeHandle: 'c' }),
    ],
    [
      'of Portworx is for one node',
      { portworxVolume: { volumeID: 'p', fsType: 'xfs' } },
      once({ driver: 'pxd.portworx.com', volumeHandle: 'p', fsType: 'xfs' }),
    ],
    [
      'of Portworx is for many readers',
      { portworxVolume: { volumeID: 'p', readOnly: true } },
      { ...once({ driver: 'pxd.portworx.com', volumeHandle: 'p' }), accessModes: ['ReadOnlyMany'] },
    ],
    ['that is empty is not attached', { emptyDir: {} }, undefined],
    ['of a CSI driver itself is not attached', { csi: { driver: 'd' } }, undefined],
  ];
  for (const [name, source, spec] of rows) {
    test(name, () => expect(inlineCsiVolumeOf({ name: 'data', ...source }, 'ns')?.spec).toEqual(spec));
  }
});

test.each<[Omit<PodVolume, 'name'>, string]>([
  [{ awsElasticBlockStore: { volumeID: 'vol-1' } }, 'ebs.csi.aws.com-vol-1'],
  [{ azureDisk: { diskName: 'n', diskURI: '/x/y' } }, '/x/y'],
  [{ cinder: { volumeID: 'c' } }, 'cinder.csi.openstack.org-c'],
  [{ portworxVolume: { volumeID: 'p' } }, 'pxd.portworx.com-p'],
])('messages name the volume of a pod: %o', (source, name) =>
  expect(inlineCsiVolumeOf({ name: 'data', ...source }, 'ns')?.name).toBe(name),
);
