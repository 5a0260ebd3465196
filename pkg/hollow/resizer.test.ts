import { describe, expect, test } from 'vitest';

import {
  keyOf,
  PersistentVolumeClaims,
  PersistentVolumes,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../api/index.ts';
import { frozen, persistentVolume, persistentVolumeClaim, type Described } from '../../test/support/builders.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { hollowDriver } from './csi.ts';
import { applyResize, planResize } from './resizer.ts';

const bound = (capacity: string) => ({ phase: 'Bound', capacity: { storage: capacity } });
const claimOf = (storage: string, status: PersistentVolumeClaim['status'] = bound('1Gi')) =>
  persistentVolumeClaim({
    name: 'data',
    metadata: { uid: 'a', resourceVersion: '7' },
    spec: { resources: { requests: { storage } }, volumeName: 'disk' },
    status,
  });
const volumeOf = (storage: string, { spec, ...described }: Described<PersistentVolume> = {}) =>
  persistentVolume({
    name: 'disk',
    annotations: { 'pv.kubernetes.io/provisioned-by': hollowDriver },
    ...described,
    spec: { capacity: { storage }, claimRef: { namespace: 'default', name: 'data', uid: 'a' }, ...spec },
  });
const plan = (claim: PersistentVolumeClaim, volume: PersistentVolume | undefined) =>
  planResize(frozen(claim), volume && frozen(volume));
const patchOf = (status: object) => ({ metadata: { resourceVersion: '7' }, status });

test('a claim that grows gets a larger volume, then its capacity', () => {
  expect(plan(claimOf('2Gi'), volumeOf('1Gi'))).toEqual({
    volume: { spec: { capacity: { storage: '2Gi' } } },
    claim: patchOf({ capacity: { storage: '2Gi' } }),
  });
});

test('a volume that is large enough stays as it is, and the claim gets all of it', () => {
  expect(plan(claimOf('2Gi'), volumeOf('3Gi'))).toEqual({
    volume: undefined,
    claim: patchOf({ capacity: { storage: '3Gi' } }),
  });
});

test('the marks of a resize in progress are cleared, other conditions are kept', () => {
  const other = { type: 'ModifyingVolume', status: 'True' };
  const status = {
    ...bound('1Gi'),
    conditions: [{ type: 'Resizing', status: 'True' }, other, { type: 'FileSystemResizePending', status: 'True' }],
    allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
  };
  expect(plan(claimOf('2Gi', status), volumeOf('1Gi'))?.claim).toEqual(
    patchOf({
      capacity: { storage: '2Gi' },
      conditions: [other],
      allocatedResourceStatuses: { storage: null },
    }),
  );
});

describe('nothing is resized', () => {
  const rows = [
    { name: 'for a claim that has what it requests', claim: claimOf('1024Mi'), volume: volumeOf('1Gi') },
    { name: 'for a claim that has more', claim: claimOf('1Gi', bound('2Gi')), volume: volumeOf('2Gi') },
    { name: 'for a claim that is not bound', claim: claimOf('2Gi', { phase: 'Pending' }), volume: volumeOf('1Gi') },
    { name: 'without the volume', claim: claimOf('2Gi'), volume: undefined },
    {
      name: 'for the volume of another claim',
      claim: claimOf('2Gi'),
      volume: volumeOf('1Gi', { spec: { claimRef: { namespace: 'default', name: 'data', uid: 'b' } } }),
    },
    {
      name: 'for a volume of another provisioner',
      claim: claimOf('2Gi'),
      volume: volumeOf('1Gi', { annotations: {} }),
    },
  ];
  for (const { name, claim, volume } of rows) test(name, () => expect(plan(claim, volume)).toBeUndefined());
});

describe('applyResize', () => {
  const { signal } = new AbortController();
  function seeded() {
    const client = new RecordingClient();
    client.seed(PersistentVolumes, volumeOf('1Gi'));
    const claim = client.seed(PersistentVolumeClaims, claimOf('2Gi'));
    const resize = planResize(claim, volumeOf('1Gi'));
    if (resize === undefined) throw new Error('nothing to resize');
    return { client, claim, resize };
  }

  test('writes the volume first, then the status of the claim', async () => {
    const { client, claim, resize } = seeded();
    await applyResize(client, claim, resize, signal);
    expect(client.writes.map(({ resource }) => resource)).toEqual(['persistentvolumes', 'persistentvolumeclaims']);
    expect(client.stored(PersistentVolumes)[0]?.spec.capacity).toEqual({ storage: '2Gi' });
    expect(client.stored(PersistentVolumeClaims)[0]?.status).toEqual(bound('2Gi'));
  });

  test('leaves a claim that has changed to its next reconcile', async () => {
    const { client, claim, resize } = seeded();
    const body = { metadata: { labels: { a: 'b' } } };
    await client.patch(PersistentVolumeClaims, keyOf(claim), { type: 'merge', body }, signal);
    await applyResize(client, claim, resize, signal);
    expect(client.stored(PersistentVolumeClaims)[0]?.status).toEqual(bound('1Gi'));
  });
});
