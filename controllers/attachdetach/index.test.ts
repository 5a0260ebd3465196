import { expect, test } from 'vitest';

import {
  Nodes,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttachments,
  type PersistentVolume,
  type VolumeAttachment,
} from '../../pkg/api/index.ts';
import { attachmentName, csiUniqueName } from '../../pkg/volumes/index.ts';
import { build, node, persistentVolumeClaim, pod } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { attachDetach } from './index.ts';

const signal = new AbortController().signal;
const driver = 'disk.example.com';
const volumesAttached = [{ name: csiUniqueName(driver, 'handle'), devicePath: '' }];
const attachment = attachmentName(driver, 'handle', 'a');
const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };

/** A volume that is attached to the node `a`, by the cache and by the status of the node. */
function seed({ server }: TestContext, status: object): void {
  const claim = persistentVolumeClaim({ name: 'data', spec: { volumeName: 'pv' }, status: { phase: 'Bound' } });
  const claimRef = { uid: claim.metadata.uid, namespace: 'default', name: 'data' };
  const volume = { accessModes: ['ReadWriteOnce'], csi: { driver, volumeHandle: 'handle' }, claimRef };
  server.seed(PersistentVolumeClaims, claim);
  server.seed(PersistentVolumes, build<PersistentVolume>(PersistentVolumes, { name: 'pv' }, { spec: volume }));
  server.seed(Nodes, node({ name: 'a', metadata: { annotations }, status: { volumesAttached, ...status } }));
  const spec = { attacher: driver, nodeName: 'a', source: { persistentVolumeName: 'pv' } };
  const fields = { spec, status: { attached: true } };
  server.seed(VolumeAttachments, build<VolumeAttachment>(VolumeAttachments, { name: attachment }, fields));
}

/** Whether there is a VolumeAttachment, after each of some waits. */
async function attachedAfter(base: TestContext, ...waitsMs: number[]): Promise<boolean[]> {
  const seen = [];
  for (const waitMs of waitsMs) {
    await base.clock.advance(waitMs);
    await settle();
    seen.push(base.server.stored(VolumeAttachments).length === 1);
  }
  return seen;
}

const controllerOf = (base: TestContext, flags: Readonly<Record<string, string>>) =>
  attachDetach.bind(new Map(Object.entries(flags).map(([name, value]) => [name, [value]])))(base.context);

const period = 'attach-detach-reconcile-sync-period';
const hourMs = 3_600_000;

test.each<[string, Record<string, string>, number[], boolean[]]>([
  ['after a minute', {}, [59_000, 1000], [false, true]],
  ['after the period', { [period]: '5m' }, [299_000, 1000], [false, true]],
  ['never if it is not checked', { 'disable-attach-detach-reconcile-sync': 'true' }, [hourMs], [false]],
])('a VolumeAttachment that somebody deleted is made again %s', async (_when, flags, waitsMs, expected) => {
  const base = createTestContext();
  seed(base, {});
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  base.server.seed(Pods, pod({ name: 'user', spec: { nodeName: 'a', volumes } }));
  await whileRunning(base, controllerOf(base, flags), async () => {
    await settle();
    await base.server.delete(VolumeAttachments, objectKey(undefined, attachment), {}, signal);
    expect(await attachedAfter(base, ...waitsMs)).toEqual(expected);
  });
});

test.each([
  ['after six minutes', {}, [true, false]],
  ['never if force is disabled', { 'disable-force-detach-on-timeout': 'true' }, [true, true]],
])('a volume that a lost node uses is detached %s', async (_when, flags, expected) => {
  const base = createTestContext();
  seed(base, { volumesInUse: [csiUniqueName(driver, 'handle')] });
  await whileRunning(base, controllerOf(base, flags), async () => {
    await settle();
    expect(await attachedAfter(base, 5 * 60_000, 2 * 60_000)).toEqual(expected);
  });
});

test('a period below a second is refused', () => {
  expect(() => attachDetach.bind(new Map([[period, ['999ms']]]))).toThrow('must be at least 1s');
});
