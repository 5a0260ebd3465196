import { beforeEach, describe, expect, test } from 'vitest';

import type { UntypedObject } from '../../api/index.ts';
import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

let sandbox: SandboxApi;
beforeEach(() => {
  sandbox = new SandboxApi();
});

const [volumes, claims] = ['persistentvolumes', 'persistentvolumeclaims'];
const modes = { accessModes: ['ReadWriteOnce'] };
const volumeSpec = { ...modes, capacity: { storage: '1Gi' }, hostPath: { path: '/x' } };
const claimSpec = { ...modes, resources: { requests: { storage: '1Gi' } } };
const create = (resource: string, spec: object, metadata: object = {}): UntypedObject =>
  sandbox.create(resource, { metadata: { name: 'x', ...metadata }, spec });
const changed = (object: UntypedObject, spec: object): UntypedObject => ({
  ...object,
  spec: { ...(object['spec'] as object), ...spec },
});

describe('a volume', () => {
  test('says since when it has its phase', async () => {
    const created = create(volumes, volumeSpec);
    expect(created['status']).toEqual({ phase: 'Pending', lastPhaseTransitionTime: '2026-01-01T00:00:00Z' });
    await sandbox.clock.advance(5000);
    const same = sandbox.update(volumes, { ...created, status: { phase: 'Pending', message: 'x' } }, 'status');
    expect(same['status']).toMatchObject({ lastPhaseTransitionTime: '2026-01-01T00:00:00Z' });
    const next = sandbox.update(
      volumes,
      { ...same, status: { ...(same['status'] as object), phase: 'Bound' } },
      'status',
    );
    expect(next['status']).toMatchObject({ phase: 'Bound', lastPhaseTransitionTime: '2026-01-01T00:00:05Z' });
  });

  test('with an attributes class needs a driver', () =>
    expect(refusalOf(() => create(volumes, { ...volumeSpec, volumeAttributesClassName: 'fast' }))).toEqual([
      'spec.csi: Required value: has to be specified when using volumeAttributesClassName',
    ]));

  test.each([
    ['gets a claim', { claimRef: { name: 'a', namespace: 'default' } }, 0],
    ['grows', { capacity: { storage: '2Gi' } }, 0],
    ['keeps its source', { hostPath: { path: '/y', type: '' } }, 1],
    ['keeps its mode', { volumeMode: 'Block' }, 1],
  ])('%s', (_what, change, errors) => {
    const created = create(volumes, volumeSpec);
    expect(refusalOf(() => sandbox.update(volumes, changed(created, change)))).toHaveLength(errors);
  });
});

describe('a claim', () => {
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const storageClass = (name: string, annotations: object, fields: object = {}): void => {
    const metadata = { name, annotations };
    sandbox.create('storageclasses.storage.k8s.io', { metadata, provisioner: 'example.com', ...fields });
  };
  const classOf = (claim: UntypedObject): unknown => (claim['spec'] as Record<string, unknown>)['storageClassName'];

  test('gets the newest default class', async () => {
    storageClass('a', isDefault);
    storageClass('other', {});
    await sandbox.clock.advance(1000);
    storageClass('c', isDefault);
    storageClass('b', isDefault);
    expect(classOf(create(claims, claimSpec))).toBe('b');
  });

  test('keeps the class that it names, also if that is empty', () => {
    storageClass('a', isDefault);
    expect(classOf(create(claims, { ...claimSpec, storageClassName: '' }))).toBe('');
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'b' };
    expect(classOf(create(claims, claimSpec, { name: 'y', annotations }))).toBeUndefined();
  });

  function createBound(spec: object): UntypedObject {
    const created = create(claims, { ...claimSpec, volumeName: 'a', ...spec });
    const status = { phase: 'Bound', capacity: { storage: '1Gi' } };
    return sandbox.update(claims, { ...created, status }, 'status');
  }

  const larger = { resources: { requests: { storage: '2Gi' } } };
  const smaller = { resources: { requests: { storage: '512Mi' } } };
  test.each([
    ['gets a volume', {}, { volumeName: 'a' }, 0],
    ['keeps its volume', { volumeName: 'a' }, { volumeName: 'b' }, 1],
    ['gets a class', {}, { storageClassName: 'a' }, 0],
    ['keeps its class', { storageClassName: 'a' }, { storageClassName: 'b' }, 1],
    ['does not grow before it is bound', {}, larger, 1],
    ['keeps its access modes', {}, { accessModes: ['ReadOnlyMany'] }, 1],
  ])('%s', (_what, spec, change, errors) => {
    const created = create(claims, { ...claimSpec, ...spec });
    expect(refusalOf(() => sandbox.update(claims, changed(created, change)))).toHaveLength(errors);
  });

  test.each([
    ['grows', larger, 0],
    ['changes its attributes class', { volumeAttributesClassName: 'fast' }, 0],
    ['does not become smaller than its volume', smaller, 1],
  ])('that is bound %s', (_what, change, errors) => {
    storageClass('growing', {}, { allowVolumeExpansion: true });
    const bound = createBound({ storageClassName: 'growing' });
    expect(refusalOf(() => sandbox.update(claims, changed(bound, change)))).toHaveLength(errors);
  });

  test.each<[string, object, object?]>([
    ['without class', {}],
    ['with an empty class', { storageClassName: '' }],
    ['of a class that does not exist', { storageClassName: 'gone' }],
    ['of a class that does not say so', { storageClassName: 'silent' }],
    ['of a class that forbids it', { storageClassName: 'fixed' }],
    ['that gets its class at the same time', {}, { storageClassName: 'growing' }],
  ])('that is bound %s does not grow', (_what, spec, change = {}) => {
    storageClass('silent', {});
    storageClass('fixed', {}, { allowVolumeExpansion: false });
    storageClass('growing', {}, { allowVolumeExpansion: true });
    const bound = createBound(spec);
    expect(refusalOf(() => sandbox.update(claims, changed(bound, { ...larger, ...change })))).toEqual([
      'persistentvolumeclaims "x" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    ]);
    expect(refusalOf(() => sandbox.update(claims, changed(bound, {})))).toEqual([]);
  });
});
