import { expect, test } from 'vitest';

import { keyOf, objectKey, PersistentVolumeClaims, Pods } from '../../pkg/api/index.ts';
import { persistentVolumeClaim, pod } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createEphemeralVolumeController } from './ephemeral-volume.ts';

const signal = new AbortController().signal;
const volumes = [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: {} } } }];
const user = pod({ name: 'user', spec: { volumes } });
const message = 'ephemeral volume v: PVC default/user-v was not created for pod default/user (pod is not owner)';

test('a claim of somebody else is reported, and replaced as soon as it is gone', async () => {
  const base = createTestContext();
  const foreign = persistentVolumeClaim({ name: 'user-v' });
  base.server.seed(Pods, user);
  base.server.seed(PersistentVolumeClaims, foreign);
  await whileRunning(base, createEphemeralVolumeController(base.context, 1), async () => {
    expect(base.recorded).toMatchObject([
      { kind: 'Pod', object: keyOf(user), type: 'Warning', reason: 'FailedBinding', message },
    ]);
    expect(base.client.writes).toEqual([]);
    await base.server.delete(PersistentVolumeClaims, keyOf(foreign), {}, signal);
    await settle();
    const [claim] = base.server.stored(PersistentVolumeClaims);
    expect(claim?.metadata.ownerReferences).toMatchObject([{ uid: user.metadata.uid }]);
  });
});

test('a create that fails is reported, counted and tried again', async () => {
  const base = createTestContext();
  base.server.seed(Pods, user);
  let failures = 0;
  base.client.before('create', () => {
    if (failures++ === 0) throw apiError(403, 'Forbidden', 'exceeded quota');
  });
  await whileRunning(base, createEphemeralVolumeController(base.context, 1), async () => {
    await base.clock.advance(1000);
    await settle();
    expect(base.server.stored(PersistentVolumeClaims).map(keyOf)).toEqual([objectKey('default', 'user-v')]);
  });
  expect(base.recorded.map((event) => event.message)).toEqual([
    'ephemeral volume v: create PVC user-v: exceeded quota',
  ]);
  const text = await base.context.metrics.metrics();
  expect(text).toContain('ephemeral_volume_controller_create_total 2');
  expect(text).toContain('ephemeral_volume_controller_create_failures_total 1');
});
