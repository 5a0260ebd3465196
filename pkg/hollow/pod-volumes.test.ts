import { expect, test } from 'vitest';

import type { CSIDriver, Node } from '../api/index.ts';
import { node, pod } from '../../test/support/builders.ts';
import { Fleet, type HollowNode } from './fleet.ts';
import { areVolumesReady, volumesInUse } from './pod-volumes.ts';

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
