import { describe, expect, test } from 'vitest';

import { StorageClasses } from '../../pkg/api/index.ts';
import { build, persistentVolume } from '../../test/support/builders.ts';
import type { Class } from '../../pkg/volumes/index.ts';
import { deleterName, deleterOf, pluginOf, provisionerOf } from './plugins.ts';

const classOf = (provisioner: string): Class => build(StorageClasses, { name: 'fast' }, { provisioner });
const by = (provisioner: string) => ({ annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } });
const hostPath = { spec: { hostPath: { path: '/tmp/x' } } };
const nfs = { spec: { nfs: { server: 'a', path: '/' } } };
const csi = { spec: { csi: { driver: 'example.com', volumeHandle: 'x' } } };

describe('provisionerOf', () => {
  test.each([
    ['example.com', { kind: 'external', name: 'example.com' }],
    ['kubernetes.io/cinder', { kind: 'external', name: 'cinder.csi.openstack.org' }],
    ['kubernetes.io/host-path', { kind: 'host-path' }],
    ['kubernetes.io/nfs', { kind: 'none', problem: 'no provisionable volume plugin matched' }],
    ['kubernetes.io/rbd', { kind: 'none', problem: 'no volume plugin matched name: kubernetes.io/rbd' }],
  ])('%s', (provisioner, expected) => expect(provisionerOf(classOf(provisioner))).toEqual(expected));
});

describe('deleterOf', () => {
  const none = (problem: string) => ({ kind: 'none', problem });
  const wrapped = (problem: string) => none(`error getting deleter volume plugin for volume "disk": ${problem}`);
  const rows = [
    {
      name: 'an external provisioner deletes what it made',
      described: { ...by('example.com'), ...hostPath },
      expected: { kind: 'external' },
    },
    {
      name: 'the plugin deletes what it made',
      described: { ...by('kubernetes.io/host-path'), ...csi },
      expected: { kind: 'host-path' },
    },
    {
      name: 'nothing deletes what NFS made',
      described: by('kubernetes.io/nfs'),
      expected: none('no deletable volume plugin matched'),
    },
    {
      name: 'nothing deletes what an unknown plugin made',
      described: by('kubernetes.io/rbd'),
      expected: none('no volume plugin matched name: kubernetes.io/rbd'),
    },
    {
      name: 'a driver that took over deletes',
      described: { annotations: { 'pv.kubernetes.io/migrated-to': 'x' }, ...hostPath },
      expected: { kind: 'external' },
    },
    { name: 'a driver deletes its volumes', described: csi, expected: { kind: 'external' } },
    { name: 'the plugin deletes by source', described: { ...by(''), ...hostPath }, expected: { kind: 'host-path' } },
    { name: 'nothing deletes NFS', described: nfs, expected: wrapped('no deletable volume plugin matched') },
    { name: 'nothing deletes other sources', described: {}, expected: wrapped('no volume plugin matched') },
  ];
  for (const { name, described, expected } of rows)
    test(name, () => expect(deleterOf(persistentVolume({ name: 'disk', ...described }))).toEqual(expected));
});

test.each([
  ['the plugin', hostPath, classOf('example.com'), 'kubernetes.io/host-path'],
  ['the provisioner of the class', csi, classOf('example.com'), 'example.com'],
  ['the driver that took over', csi, classOf('kubernetes.io/cinder'), 'cinder.csi.openstack.org'],
  ['nobody without class', csi, undefined, 'N/A'],
  ['nobody without deleter', nfs, classOf('example.com'), 'N/A'],
])('metrics name %s', (_who, described, storageClass, expected) =>
  expect(deleterName(persistentVolume(described), storageClass)).toBe(expected),
);

test.each([
  [hostPath, 'kubernetes.io/host-path'],
  [nfs, 'kubernetes.io/nfs'],
  [csi, 'N/A'],
])('the plugin of %o is %s', (described, expected) => expect(pluginOf(persistentVolume(described))).toBe(expected));
