import { expect, test } from 'vitest';

import { CoreEvents, PersistentVolumeClaims, Pods } from '../../pkg/api/index.ts';
import { eventually } from '../support/eventually.ts';
import { runWithBoth, type Stage } from '../support/side-by-side.ts';
import { ephemeralVolume, isThere, VolumeUser } from '../support/volume-user.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();

async function untilEvent({ client, namespace }: Stage, about: string, signal: AbortSignal): Promise<void> {
  await eventually(async () => {
    const { items } = await client.listAll(CoreEvents, { namespace }, signal);
    return items.some(({ reason, involvedObject }) => reason === 'FailedBinding' && involvedObject.name === about);
  }, signal);
}

/** Pods with ephemeral volumes, one of which loses its claim, and one of which finds its name taken. */
async function play(stage: Stage, signal: AbortSignal): Promise<void> {
  const { client, namespace } = stage;
  const user = new VolumeUser(client, namespace, signal);
  const template = { labels: { app: 'web', constructor: 'yes' }, annotations: { note: 'this' } };
  await user.pod('plain', { volumes: [ephemeralVolume('a', template), ephemeralVolume('b')] });
  await user.until(PersistentVolumeClaims, 'plain-b', isThere);

  await user.pod('again', { volumes: [ephemeralVolume('a')] });
  const earlier = await user.until(PersistentVolumeClaims, 'again-a', isThere);
  await user.delete(PersistentVolumeClaims, 'again-a');
  await user.setFinalizers(PersistentVolumeClaims, 'again-a', null);
  await user.until(PersistentVolumeClaims, 'again-a', (claim) => {
    return claim !== undefined && claim.metadata.uid !== earlier?.metadata.uid;
  });

  // The first volume stops those after it, until its name is free.
  await user.claim('taken-a');
  await user.pod('taken', { volumes: [ephemeralVolume('a'), ephemeralVolume('b')] });
  await untilEvent(stage, 'taken', signal);
  await user.claim('freed-a');
  await user.pod('freed', { volumes: [ephemeralVolume('a'), ephemeralVolume('b')] });
  await untilEvent(stage, 'freed', signal);
  await user.delete(PersistentVolumeClaims, 'freed-a');
  await user.setFinalizers(PersistentVolumeClaims, 'freed-a', null);
  await user.until(PersistentVolumeClaims, 'freed-b', isThere);

  // A claim goes with its pod only by the garbage collector, which does not run here.
  await user.pod('deleted', { volumes: [ephemeralVolume('a')] });
  await user.until(PersistentVolumeClaims, 'deleted-a', isThere);
  await user.delete(Pods, 'deleted');
}

test('claims of ephemeral volumes belong to their pods, as with the Go manager', async ({ signal }) => {
  const scenario = {
    controllers: ['ephemeral-volume-controller'],
    kinds: [PersistentVolumeClaims, Pods, CoreEvents],
    run: (stage: Stage) => play(stage, signal),
  };
  // Go may try again before its cache has the claims that it has just created, and reports them as taken.
  const ignore = ['Event:*already exists'];
  expect(await runWithBoth(cluster(), scenario, { ignore }, signal)).toEqual([]);
});
