import { describe, expect, test } from 'vitest';

import {
  splitKey,
  type CSIDriver,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../api/index.ts';
import { node, pod } from '../../test/support/builders.ts';
import { Fleet, type HollowNode } from './fleet.ts';
import { attachableVolumes, hollowDriver } from './csi.ts';
import {
  areVolumesReady,
  compileVolumeReach,
  compileVolumeRoom,
  volumesInUse,
  type VolumeStores,
} from './pod-volumes.ts';

const uniqueName = 'kubernetes.io/csi/ebs.csi.aws.com^vol-1';
const user = pod({ name: 'a', spec: { volumes: [{ name: 'v', awsElasticBlockStore: { volumeID: 'vol-1' } }] } });
const stores = (driver?: CSIDriver) => ({
  claims: { get: () => undefined },
  volumes: { get: () => undefined },
  drivers: { get: () => driver },
});
const local: CSIDriver = { ...node({ name: 'ebs.csi.aws.com' }), spec: { attachRequired: false } };

function machine(status: Node['status'] = {}): HollowNode {
  const [hollow] = new Fleet({ nodes: 1, namePrefix: 'a', zones: [], labels: {}, podCapacity: 1 }).all;
  if (hollow === undefined) throw new Error('no node');
  hollow.node = node({ name: 'a-0', status });
  hollow.neighbours.pods
    .set('u', user)
    .set('again', user)
    .set('other', pod({ name: 'other' }));
  return hollow;
}

test('a node uses the volumes of its pods, each once, and none that is not attached', () => {
  expect(volumesInUse(machine(), stores())).toEqual([uniqueName]);
  expect(volumesInUse(machine(), stores(local))).toEqual([]);
});

const volumesAttached = [{ name: uniqueName, devicePath: '' }];
test.each([
  ['while the volume is not attached', { volumesInUse: [uniqueName] }, false],
  ['before the node has said that it uses the volume', { volumesAttached }, false],
  ['after both', { volumesInUse: [uniqueName], volumesAttached }, true],
])('a pod starts %s: %s', (_when, status, expected) => {
  expect(areVolumesReady(user, machine(status), stores())).toBe(expected);
});

test('a pod waits for no volume of a driver that does not attach', () => {
  expect(areVolumesReady(user, machine(), stores(local))).toBe(true);
});

describe('a node has room for as many volumes of the simulated driver as its CSINode says', () => {
  const claimant = (name: string, claimName = name) =>
    pod({ name, namespace: 'default', spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] } });
  const driverOf = (volume: string): string => (volume.startsWith('other') ? 'other.example.com' : hollowDriver);
  /** Every claim is bound to a volume of its own name. */
  const bound: VolumeStores = {
    claims: {
      get: (key) => {
        const { name } = splitKey(key);
        return { ...node({ name }), spec: { volumeName: name }, status: { phase: 'Bound' } };
      },
    },
    volumes: {
      get: (key) => {
        const { name } = splitKey(key);
        const csi = { driver: driverOf(name), volumeHandle: name };
        return { ...node({ name }), spec: { csi, claimRef: { uid: node({ name }).metadata.uid } }, status: {} };
      },
    },
    drivers: { get: () => undefined },
  };
  const full = machine();
  for (let index = 0; index < attachableVolumes; index++) {
    full.neighbours.pods.set(String(index), claimant(`used-${index}`));
  }
  const almostFull = machine();
  almostFull.neighbours.pods.set('used', claimant('used'));
  test.each([
    ['one more', claimant('new'), false],
    ['one that is there', claimant('again', 'used-0'), true],
    ['one of another driver', claimant('other'), true],
    ['no volume', pod({ name: 'plain' }), true],
  ])('%s', (_what, given, expected) => {
    const hasRoom = compileVolumeRoom(given, bound);
    expect([hasRoom(full), hasRoom(almostFull)]).toEqual([expected, true]);
  });
});

describe('the nodes that can reach the volumes of a pod', () => {
  const claimant = pod({ spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] } });
  const claim = (volumeName?: string): PersistentVolumeClaim => ({
    ...node({ name: 'data' }),
    spec: { ...(volumeName !== undefined && { volumeName }) },
    status: {},
  });
  const volumeOn = (...values: string[]): PersistentVolume => {
    const isInZone = { key: 'zone', operator: 'In', values };
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [isInZone] }] } };
    return { ...node({ name: 'pv' }), spec: { ...(values.length > 0 && { nodeAffinity }) }, status: {} };
  };
  const rows: { name: string; claim?: PersistentVolumeClaim; volume?: PersistentVolume; expected: unknown }[] = [
    { name: 'all, without a claim', expected: ['a', 'b'] },
    { name: 'all, while the claim is not bound', claim: claim(), expected: ['a', 'b'] },
    { name: 'unknown, while the cache has no such volume', claim: claim('pv'), expected: 'unknown' },
    { name: 'all, without affinity', claim: claim('pv'), volume: volumeOn(), expected: ['a', 'b'] },
    { name: 'those of the affinity', claim: claim('pv'), volume: volumeOn('b'), expected: ['b'] },
    { name: 'none, if the affinity matches none', claim: claim('pv'), volume: volumeOn('c'), expected: [] },
  ];
  for (const { name, expected, ...row } of rows) {
    test(name, () => {
      const known = { claims: { get: () => row.claim }, volumes: { get: () => row.volume } };
      const canReach = compileVolumeReach(claimant, known);
      const zones = ['a', 'b'].filter((zone) => canReach !== 'unknown' && canReach(node({ labels: { zone } })));
      expect(canReach === 'unknown' ? canReach : zones).toEqual(expected);
    });
  }
});
