import { describe, expect, test } from 'vitest';
import {
  betaStorageProvisioner,
  migrateClaimAnnotations,
  migratedTo,
  migrateVolumeAnnotations,
  provisionedBy,
  storageProvisioner,
} from './index.ts';

const inTree = 'kubernetes.io/gce-pd';
const driver = 'pd.csi.storage.gke.io';

describe('migrateClaimAnnotations', () => {
  const rows = [
    { name: 'no annotations stay as they are', given: undefined, expected: undefined },
    { name: 'a claim without provisioner keeps any driver', given: { [migratedTo]: driver }, expected: undefined },
    {
      name: 'the driver of a plugin is added',
      given: { [storageProvisioner]: inTree, other: 'a' },
      expected: { [storageProvisioner]: inTree, other: 'a', [migratedTo]: driver },
    },
    {
      name: 'the beta annotation counts without the stable one',
      given: { [betaStorageProvisioner]: inTree },
      expected: { [betaStorageProvisioner]: inTree, [migratedTo]: driver },
    },
    {
      name: 'the stable annotation counts before the beta one',
      given: { [betaStorageProvisioner]: inTree, [storageProvisioner]: 'example.com/disk' },
      expected: undefined,
    },
    {
      name: 'a right driver stays',
      given: { [storageProvisioner]: inTree, [migratedTo]: driver },
      expected: undefined,
    },
    {
      name: 'a wrong driver is replaced',
      given: { [storageProvisioner]: inTree, [migratedTo]: 'x' },
      expected: { [storageProvisioner]: inTree, [migratedTo]: driver },
    },
    {
      name: 'a driver is removed from a provisioner that was never in-tree',
      given: { [storageProvisioner]: 'example.com/disk', [migratedTo]: driver },
      expected: { [storageProvisioner]: 'example.com/disk' },
    },
    {
      name: 'an empty driver counts as none',
      given: { [storageProvisioner]: 'example.com/disk', [migratedTo]: '' },
      expected: undefined,
    },
  ];
  for (const { name, given, expected } of rows)
    test(name, () => expect(migrateClaimAnnotations(given)).toEqual(expected));
});

describe('migrateVolumeAnnotations', () => {
  const rows = [
    { name: 'the provisioner of a claim means nothing', given: { [storageProvisioner]: inTree }, expected: undefined },
    {
      name: 'the driver of a plugin is added',
      given: { [provisionedBy]: inTree },
      expected: { [provisionedBy]: inTree, [migratedTo]: driver },
    },
    {
      name: 'a driver is removed from a plugin that stayed in-tree',
      given: { [provisionedBy]: 'kubernetes.io/host-path', [migratedTo]: driver },
      expected: { [provisionedBy]: 'kubernetes.io/host-path' },
    },
  ];
  for (const { name, given, expected } of rows)
    test(name, () => expect(migrateVolumeAnnotations(given)).toEqual(expected));
});
