import { describe, expect, test } from 'vitest';

import { StorageClasses, type PersistentVolumeClaim } from '../../pkg/api/index.ts';
import { build, frozen, persistentVolume, persistentVolumeClaim, type Described } from '../../test/support/builders.ts';
import { dataSourceProblem, deletionProblem, planHostPath } from './host-path.ts';

const claimOf = (described: Described<PersistentVolumeClaim> = {}) =>
  frozen(
    persistentVolumeClaim({
      name: 'data',
      ...described,
      spec: { resources: { requests: { storage: '1Gi' } }, storageClassName: 'host', ...described.spec },
    }),
  );

function plan(claim: ReturnType<typeof claimOf>, fields: object = {}, isEnabled = true) {
  const storageClass = build(
    StorageClasses,
    { name: 'host' },
    { provisioner: 'kubernetes.io/host-path', reclaimPolicy: 'Delete', ...fields },
  );
  return planHostPath({ claim, storageClass, isEnabled, id: 'some-id', isNode: (name) => name === 'here' });
}

test('a volume is made for its claim', () => {
  const { uid, resourceVersion } = claimOf().metadata;
  const kind = { kind: 'PersistentVolumeClaim', apiVersion: 'v1' };
  expect(plan(claimOf())).toEqual({
    kind: 'create',
    path: '/tmp/hostpath_pv/some-id',
    problem: undefined,
    volume: {
      metadata: {
        name: `pvc-${uid}`,
        annotations: {
          'kubernetes.io/createdby': 'hostpath-dynamic-provisioner',
          'pv.kubernetes.io/bound-by-controller': 'yes',
          'pv.kubernetes.io/provisioned-by': 'kubernetes.io/host-path',
        },
        finalizers: ['kubernetes.io/pv-controller'],
      },
      spec: {
        persistentVolumeReclaimPolicy: 'Delete',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        hostPath: { path: '/tmp/hostpath_pv/some-id' },
        claimRef: { ...kind, namespace: 'default', name: 'data', uid, resourceVersion },
        storageClassName: 'host',
      },
      status: { phase: 'Bound' },
    },
  });
});

test('a volume that is retained gets no finalizer', () =>
  expect(plan(claimOf(), { reclaimPolicy: 'Retain' })).not.toHaveProperty('volume.metadata.finalizers'));

describe('no volume is made', () => {
  const on = (node: string) => claimOf({ annotations: { 'volume.kubernetes.io/selected-node': node } });
  test.each([
    [
      'with mount options',
      plan(claimOf(), { mountOptions: ['ro', 'hard'] }),
      'Mount options are not supported by the provisioner but StorageClass "host" has mount options [ro hard]',
    ],
    [
      'if that is turned off',
      plan(claimOf(), {}, false),
      'Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled',
    ],
    ['on an unknown node', plan(on('there')), 'Failed to get target node: node "there" not found'],
  ])('%s', (_when, refused, message) => expect(refused).toEqual({ kind: 'refuse', message }));

  test('as a device', () =>
    expect(plan(claimOf({ spec: { volumeMode: 'Block' } }))).toMatchObject({
      problem: 'kubernetes.io/host-path does not support block volume provisioning',
    }));

  test('from other data', () => {
    expect(dataSourceProblem(claimOf())).toBeUndefined();
    const copy = claimOf({ spec: { dataSource: { kind: 'PersistentVolumeClaim', name: 'other' } } });
    expect(dataSourceProblem(copy)).toMatch('Only CSI plugin can provision a claim with a datasource');
  });

  test('a node that is there is fine', () => expect(plan(on('here')).kind).toBe('create'));
});

test.each([
  ['/tmp/x', undefined],
  ['/tmp/', 'host_path deleter only supports /tmp/.+ but received provided /tmp/'],
  ['/var/data', 'host_path deleter only supports /tmp/.+ but received provided /var/data'],
])('what is at %s may be deleted unless %s', (path, expected) =>
  expect(deletionProblem(persistentVolume({ spec: { hostPath: { path } } }))).toBe(expected),
);

test('only directories are deleted', () =>
  expect(deletionProblem(persistentVolume({ name: 'disk' }))).toBe(
    'failed to create deleter for volume "disk": spec.PersistentVolumeSource.HostPath is nil',
  ));
