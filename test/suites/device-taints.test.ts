import { expect, test } from 'vitest';

import { CoreEvents, Pods, ResourceClaims } from '../../pkg/api/index.ts';
import { fromTemplate } from '../support/claim-user.ts';
import { broken, DeviceTaintUser, tolerating } from '../support/device-taint-user.ts';
import { eventually } from '../support/eventually.ts';
import { runWithBoth, type Stage } from '../support/side-by-side.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const controllers = ['device-taint-eviction-controller'];

async function untilEvents({ client, namespace }: Stage, count: number, signal: AbortSignal): Promise<void> {
  await eventually(async () => {
    const { items } = await client.listAll(CoreEvents, { namespace }, signal);
    return items.length >= count;
  }, signal);
}

/** Devices of a pool are tainted, and pods tolerate that in every way. */
async function taint(stage: Stage, signal: AbortSignal): Promise<void> {
  const user = new DeviceTaintUser(stage.client, stage.namespace, signal);
  const slow = { key: 'example.com/slow', effect: 'NoSchedule' };
  await user.publish({ 'gpu-0': [], 'gpu-1': [slow], 'gpu-2': [broken] });
  await user.deviceUser('intolerant', 'gpu-0');
  await user.deviceUser('tolerant', 'gpu-0', [tolerating(broken.key)]);
  await user.deviceUser('patient', 'gpu-0', [tolerating(broken.key, 1)]);
  await user.deviceUser('very-patient', 'gpu-0', [tolerating(broken.key, 3600)]);
  await user.deviceUser('slow', 'gpu-1');
  await user.publish({ 'gpu-0': [broken], 'gpu-1': [slow], 'gpu-2': [broken] });
  await user.untilEvicted('intolerant', 'patient');

  // A pod that gets a tainted device, and pods that do not use theirs.
  await user.deviceUser('late', 'gpu-2');
  await user.untilEvicted('late');
  await user.template('plain');
  await user.pod('unscheduled', { claims: { own: fromTemplate('plain') } });
  await user.claim('unreserved');
  await user.pod('unreserved', { claims: { own: { resourceClaimName: 'unreserved' } }, nodeName: 'node' });
  await user.allocate('unreserved', [], 'gpu-2');

  // A new generation of the pool has no taints: who waited may stay.
  await user.publish({ 'gpu-0': [], 'gpu-1': [], 'gpu-2': [] }, 2);
  await untilEvents(stage, 4, signal);
}

test('pods are evicted from tainted devices, as with the Go manager', async ({ signal }) => {
  const kinds = [Pods, ResourceClaims, CoreEvents];
  const scenario = { controllers, kinds, run: (stage: Stage) => taint(stage, signal) };
  expect(await runWithBoth(cluster(), scenario, {}, signal)).toEqual([]);
});
