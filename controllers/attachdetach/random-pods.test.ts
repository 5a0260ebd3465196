import { expect, test } from 'vitest';

import {
  isBeingDeleted,
  keyOf,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttachments,
  type PersistentVolume,
  type Pod,
} from '../../pkg/api/index.ts';
import { createSharedInformerFactory } from '../../informers/index.ts';
import { build, node, persistentVolumeClaim, pod } from '../../test/support/builders.ts';
import { createTestContext, settle, startInTest, type TestContext } from '../../test/support/controller-context.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { seededRandom } from '../../test/support/random.ts';
import { createAttachDetachController } from './attach-detach.ts';

const signal = new AbortController().signal;
const driver = 'disk.example.com';
const nodeNames = ['a', 'b', 'c'];
const volumeNames = ['v0', 'v1', 'v2', 'v3'];
const finalizers = ['external-attacher/disk-example-com'];
const options = { verifyPeriodMs: 60_000, isForceDetachDisabled: false };

function seed({ server }: TestContext): void {
  const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  for (const name of nodeNames) server.seed(Nodes, node({ name, metadata: { annotations }, status }));
  for (const name of volumeNames) {
    const claim = persistentVolumeClaim({ name, spec: { volumeName: name }, status: { phase: 'Bound' } });
    const claimRef = { uid: claim.metadata.uid, namespace: 'default', name };
    const spec = { accessModes: ['ReadWriteOnce'], csi: { driver, volumeHandle: name }, claimRef };
    server.seed(PersistentVolumeClaims, claim);
    server.seed(PersistentVolumes, build<PersistentVolume>(PersistentVolumes, { name }, { spec }));
  }
}

/** An external attacher that works when it likes, on one VolumeAttachment at a time. */
async function attachOne({ server }: TestContext, pick: <T>(items: readonly T[]) => T | undefined): Promise<void> {
  const attachment = pick(server.stored(VolumeAttachments));
  if (attachment === undefined) return;
  const key = keyOf(attachment);
  if (isBeingDeleted(attachment.metadata)) {
    await server.patch(VolumeAttachments, key, { type: 'merge', body: { metadata: { finalizers: null } } }, signal);
    return;
  }
  await server.patch(VolumeAttachments, key, { type: 'merge', body: { metadata: { finalizers } } }, signal);
  const attached = { type: 'merge', subresource: 'status', body: { status: { attached: true } } } as const;
  await server.patch(VolumeAttachments, key, attached, signal);
}

/** The volumes that more than one node has, though only one may. */
function sharedVolumes({ server }: TestContext): string[] {
  const names = server.stored(VolumeAttachments).map(({ spec }) => spec.source.persistentVolumeName ?? '');
  return names.filter((name, index) => names.indexOf(name) !== index);
}

/** The same server and clock, for a process that starts after another. */
function restarted(base: TestContext): TestContext {
  const { clock, server } = base;
  const informers = createSharedInformerFactory({ client: server, clock, logger: silentLogger, random: () => 0 });
  return { ...base, informers, context: { ...base.context, informers } };
}

const rows = Array.from({ length: 12 }, (_, index) => index);
test.each(rows)('no volume is on two nodes, and none is left behind: pods at random, seed %i', async (seedOf) => {
  const random = seededRandom(seedOf);
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const deletePod = async (gone: Pod | undefined): Promise<void> => {
    if (gone !== undefined) await base.server.delete(Pods, keyOf(gone), { gracePeriodSeconds: 0 }, signal);
  };
  let base = createTestContext();
  seed(base);
  let running = startInTest(base, createAttachDetachController(base.context, options));
  for (let step = 0; step < 200; step++) {
    const choice = random();
    if (choice < 0.25) {
      const [nodeName = 'a', claimName = 'v0'] = [pick(nodeNames), pick(volumeNames)];
      const volumes = [{ name: 'v', persistentVolumeClaim: { claimName } }];
      base.server.seed(Pods, pod({ name: `pod-${step}`, spec: { nodeName, volumes } }));
    } else if (choice < 0.5) await deletePod(pick(base.server.stored(Pods)));
    else if (choice < 0.95) await attachOne(base, pick);
    else {
      await running.stop();
      base = restarted(base);
      running = startInTest(base, createAttachDetachController(base.context, options));
    }
    if (random() < 0.7) await settle();
    expect(sharedVolumes(base)).toEqual([]);
  }
  for (const gone of base.server.stored(Pods)) await deletePod(gone);
  for (let turn = 0; base.server.stored(VolumeAttachments).length > 0 && turn < 500; turn++) {
    await settle();
    await attachOne(base, pick);
    await base.clock.advance(1000);
  }
  await settle();
  await running.stop();
  expect(base.server.stored(VolumeAttachments)).toEqual([]);
  expect(base.server.stored(Nodes).flatMap(({ status }) => status?.volumesAttached ?? [])).toEqual([]);
});
