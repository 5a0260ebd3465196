import { describe, expect, test } from 'vitest';

import { persistentVolume } from '../../test/support/builders.ts';
import { deletionFinalizers, inTreeFinalizer } from './finalizers.ts';

const external = 'external-provisioner.volume.kubernetes.io/finalizer';
const deletionTimestamp = '2026-01-01T00:00:00Z';
const [hostPath, moved] = ['kubernetes.io/host-path', 'kubernetes.io/gce-pd'];

describe('deletionFinalizers', () => {
  const rows = [
    {
      name: 'a volume of an administrator keeps its own',
      by: undefined,
      policy: 'Delete',
      given: [inTreeFinalizer, external],
      expected: undefined,
    },
    {
      name: 'a volume of an external provisioner keeps its own',
      by: 'example.com',
      policy: 'Delete',
      given: [external],
      expected: undefined,
    },
    {
      name: 'a volume that will be deleted gets one',
      by: hostPath,
      policy: 'Delete',
      given: ['a'],
      expected: ['a', inTreeFinalizer],
    },
    {
      name: 'a volume that has it keeps it',
      by: hostPath,
      policy: 'Delete',
      given: [inTreeFinalizer],
      expected: undefined,
    },
    {
      name: 'a volume that is retained now loses it',
      by: hostPath,
      policy: 'Retain',
      given: ['a', inTreeFinalizer],
      expected: ['a'],
    },
    {
      name: 'a volume that is recycled now loses it',
      by: hostPath,
      policy: 'Recycle',
      given: [inTreeFinalizer],
      expected: [],
    },
    {
      name: 'a volume of a plugin loses the external one',
      by: hostPath,
      policy: 'Delete',
      given: [external],
      expected: [inTreeFinalizer],
    },
    {
      name: 'a volume of a driver that took over loses that of the plugin',
      by: moved,
      policy: 'Delete',
      given: [inTreeFinalizer, external],
      expected: [external],
    },
    {
      name: 'a volume of a driver that took over gets none',
      by: moved,
      policy: 'Delete',
      given: [],
      expected: undefined,
    },
    {
      name: 'a volume that is being deleted gets none',
      by: hostPath,
      policy: 'Delete',
      given: ['a'],
      deletionTimestamp,
      expected: undefined,
    },
  ];
  for (const { name, by, policy, given, expected, ...metadata } of rows) {
    test(name, () => {
      const volume = persistentVolume({
        annotations: by === undefined ? {} : { 'pv.kubernetes.io/provisioned-by': by },
        metadata: { finalizers: given, ...metadata },
        spec: { persistentVolumeReclaimPolicy: policy },
      });
      expect(deletionFinalizers(volume)).toEqual(expected);
    });
  }
});
