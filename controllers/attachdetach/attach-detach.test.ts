import { describe, expect, test } from 'vitest';

import {
  CSIDrivers,
  keyOf,
  Nodes,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttachments,
  type Node,
  type PersistentVolume,
  type VolumeAttachment,
} from '../../pkg/api/index.ts';
import { attachmentName, csiUniqueName } from '../../pkg/volumes/index.ts';
import { build, node, persistentVolumeClaim, pod } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { createAttachDetachController } from './attach-detach.ts';

const signal = new AbortController().signal;
const driver = 'disk.example.com';
const volumeName = csiUniqueName(driver, 'handle');
const attachment = attachmentName(driver, 'handle', 'a');
const key = objectKey(undefined, attachment);
const options = { verifyPeriodMs: undefined, isForceDetachDisabled: false };
const minutes = (count: number): number => count * 60_000;

interface Given {
  readonly inUse?: boolean;
  readonly isReported?: boolean;
  readonly isHealthy?: boolean;
}

const managed = { annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } };

function machine({ inUse = false, isHealthy = true, isReported = false }: Given = {}): Node {
  const status = {
    conditions: [{ type: 'Ready', status: isHealthy ? 'True' : 'Unknown' }],
    ...(inUse && { volumesInUse: [volumeName] }),
    ...(isReported && { volumesAttached: [{ name: volumeName, devicePath: '/dev/x' }] }),
  };
  return node({ name: 'a', metadata: managed, status });
}

function attachmentObject(attached: boolean, fields: object = {}): VolumeAttachment {
  const spec = { attacher: driver, nodeName: 'a', source: { persistentVolumeName: 'pv' } };
  return build<VolumeAttachment>(VolumeAttachments, { name: attachment, ...fields }, { spec, status: { attached } });
}

const user = pod({
  name: 'user',
  spec: { nodeName: 'a', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
});

/** A bound claim and its volume. */
function seedVolume({ server }: TestContext): void {
  const claim = persistentVolumeClaim({ name: 'data', spec: { volumeName: 'pv' }, status: { phase: 'Bound' } });
  const spec = {
    accessModes: ['ReadWriteOnce'],
    csi: { driver, volumeHandle: 'handle' },
    claimRef: { uid: claim.metadata.uid, namespace: 'default', name: 'data' },
  };
  server.seed(PersistentVolumeClaims, claim);
  server.seed(PersistentVolumes, build<PersistentVolume>(PersistentVolumes, { name: 'pv' }, { spec }));
}

const attachmentsOf = ({ server }: TestContext) =>
  server.stored(VolumeAttachments).map(({ metadata }) => metadata.name);
const reportedOf = ({ server }: TestContext) => server.stored(Nodes)[0]?.status?.volumesAttached ?? [];
const deletePod = ({ server }: TestContext) => server.delete(Pods, keyOf(user), { gracePeriodSeconds: 0 }, signal);

/** Nodes report at intervals. */
async function untilReported({ clock }: TestContext): Promise<void> {
  await settle();
  await clock.advance(100);
  await settle();
}

describe('after a restart', () => {
  test('an attached volume that a pod needs costs no write', async () => {
    const base = createTestContext();
    seedVolume(base);
    base.server.seed(Pods, user);
    base.server.seed(Nodes, machine({ isReported: true }));
    base.server.seed(VolumeAttachments, attachmentObject(true));
    await whileRunning(base, createAttachDetachController(base.context, options), settle);
    expect(base.client.writes).toEqual([]);
    expect(base.recorded).toEqual([]);
  });

  test('a volume whose pod is gone is detached, though its PersistentVolume is gone too', async () => {
    const base = createTestContext();
    base.server.seed(Nodes, machine({ isReported: true }));
    base.server.seed(VolumeAttachments, attachmentObject(true));
    await whileRunning(base, createAttachDetachController(base.context, options), () => untilReported(base));
    expect(base.client.writes.map(({ verb }) => verb)).toEqual(['patch', 'delete']); // the node is told first
    expect([attachmentsOf(base), reportedOf(base)]).toEqual([[], []]);
  });

  test('an attach that was under way is continued, and not begun twice', async () => {
    const base = createTestContext();
    seedVolume(base);
    base.server.seed(Pods, user);
    base.server.seed(Nodes, machine());
    base.server.seed(VolumeAttachments, attachmentObject(true));
    await whileRunning(base, createAttachDetachController(base.context, options), () => untilReported(base));
    expect(base.client.writes.map(({ verb }) => verb)).toEqual(['patch']);
    expect(reportedOf(base)).toEqual([{ name: volumeName, devicePath: '' }]);
    expect(base.recorded.map(({ reason }) => reason)).toEqual(['SuccessfulAttachVolume']);
  });

  test('a node that was synced a moment ago waits with its next report', async () => {
    const base = createTestContext();
    seedVolume(base);
    base.server.seed(Pods, user);
    base.server.seed(Nodes, machine());
    base.server.seed(VolumeAttachments, attachmentObject(true));
    await whileRunning(base, createAttachDetachController(base.context, options), async () => {
      await settle();
      expect(reportedOf(base)).toEqual([]);
      await base.clock.advance(100);
      await settle();
      expect(reportedOf(base)).toHaveLength(1);
    });
  });

  test('a VolumeAttachment that nobody reported is removed, also of a volume without a PersistentVolume', async () => {
    const base = createTestContext();
    base.server.seed(Nodes, machine());
    const inlineVolumeSpec = { accessModes: ['ReadWriteOnce'], csi: { driver, volumeHandle: 'handle' } };
    const inline = attachmentObject(true);
    base.server.seed(VolumeAttachments, { ...inline, spec: { ...inline.spec, source: { inlineVolumeSpec } } });
    await whileRunning(base, createAttachDetachController(base.context, options), settle);
    expect(attachmentsOf(base)).toEqual([]);
  });

  test('VolumeAttachments of others stay', async () => {
    const base = createTestContext();
    seedVolume(base);
    base.server.seed(Nodes, machine());
    base.server.seed(VolumeAttachments, attachmentObject(true, { name: 'by-hand' }));
    await whileRunning(base, createAttachDetachController(base.context, options), settle);
    expect(base.client.writes).toEqual([]);
  });

  test('volumes of plugins that are not known stay', async () => {
    const base = createTestContext();
    const volumesAttached = [{ name: 'example.com/flex/x', devicePath: '' }];
    base.server.seed(Nodes, node({ name: 'a', metadata: managed, status: { volumesAttached } }));
    await whileRunning(base, createAttachDetachController(base.context, options), settle);
    expect(base.client.writes).toEqual([]);
  });
});

describe('a volume in use', () => {
  async function lose(given: Given, isForceDetachDisabled: boolean): Promise<string[][]> {
    const base = createTestContext();
    seedVolume(base);
    base.server.seed(Pods, user);
    base.server.seed(Nodes, machine({ inUse: true, isReported: true, ...given }));
    base.server.seed(VolumeAttachments, attachmentObject(true));
    const seen: string[][] = [];
    await whileRunning(
      base,
      createAttachDetachController(base.context, { ...options, isForceDetachDisabled }),
      async () => {
        await deletePod(base);
        for (const minute of [6, 1]) {
          await settle();
          seen.push(attachmentsOf(base));
          await base.clock.advance(minutes(minute));
        }
        await settle();
        seen.push(attachmentsOf(base));
      },
    );
    return seen;
  }

  test('on a node that is not healthy is detached after six minutes', async () => {
    expect(await lose({ isHealthy: false }, false)).toEqual([[attachment], [attachment], []]);
  });

  test('on a node that is not healthy stays if force is disabled', async () => {
    expect(await lose({ isHealthy: false }, true)).toEqual([[attachment], [attachment], [attachment]]);
  });

  test('on a healthy node stays', async () => {
    expect(await lose({}, false)).toEqual([[attachment], [attachment], [attachment]]);
  });
});

test('a kubelet that began to mount just now keeps its volume', async () => {
  const base = createTestContext();
  base.server.seed(Nodes, machine({ isReported: true }));
  base.server.seed(VolumeAttachments, attachmentObject(true));
  base.client.before('get', () => void base.server.seed(Nodes, machine({ inUse: true })));
  await whileRunning(base, createAttachDetachController(base.context, options), settle);
  expect(attachmentsOf(base)).toEqual([attachment]);
});

test('an attacher that does not answer is a failure after two minutes', async () => {
  const base = createTestContext();
  seedVolume(base);
  base.server.seed(Pods, user);
  base.server.seed(Nodes, machine());
  await whileRunning(base, createAttachDetachController(base.context, options), async () => {
    expect(attachmentsOf(base)).toEqual([attachment]);
    await base.clock.advance(minutes(2));
    await settle();
  });
  const message =
    'AttachVolume.Attach failed for volume "pv" : timed out waiting for external-attacher of disk.example.com CSI driver to attach volume handle';
  expect(base.recorded.map((event) => event.message)).toEqual([message]);
});

test('a failed create is reported to the pod and repeated', async () => {
  const base = createTestContext();
  seedVolume(base);
  base.server.seed(Pods, user);
  base.server.seed(Nodes, machine());
  let isBroken = true;
  base.client.before('create', () => {
    if (isBroken) throw new Error('not now');
  });
  await whileRunning(base, createAttachDetachController(base.context, options), async () => {
    expect(attachmentsOf(base)).toEqual([]);
    isBroken = false;
    await base.clock.advance(500);
    await settle();
    expect(attachmentsOf(base)).toEqual([attachment]);
  });
  expect(base.recorded.map(({ reason }) => reason)).toEqual(['FailedAttachVolume']);
});

test('a VolumeAttachment that somebody deleted is made again at the next check', async () => {
  const base = createTestContext();
  seedVolume(base);
  base.server.seed(Pods, user);
  base.server.seed(Nodes, machine({ isReported: true }));
  base.server.seed(VolumeAttachments, attachmentObject(true));
  await whileRunning(
    base,
    createAttachDetachController(base.context, { ...options, verifyPeriodMs: 60_000 }),
    async () => {
      await base.server.delete(VolumeAttachments, key, {}, signal);
      await settle();
      expect(attachmentsOf(base)).toEqual([]);
      await base.clock.advance(60_000);
      await settle();
      expect(attachmentsOf(base)).toEqual([attachment]);
      expect(reportedOf(base)).toEqual([]);
    },
  );
});

test('volumes follow a CSIDriver that says that nothing has to be attached', async () => {
  const base = createTestContext();
  seedVolume(base);
  base.server.seed(Pods, user);
  base.server.seed(Nodes, machine({ isReported: true }));
  base.server.seed(VolumeAttachments, attachmentObject(true));
  await whileRunning(base, createAttachDetachController(base.context, options), async () => {
    await base.server.create(CSIDrivers, { metadata: { name: driver }, spec: { attachRequired: false } }, signal);
    await untilReported(base);
    expect(attachmentsOf(base)).toEqual([]);
    await base.server.delete(CSIDrivers, objectKey(undefined, driver), {}, signal);
    await settle();
    expect(attachmentsOf(base)).toEqual([attachment]);
  });
});

test('a node that becomes managed gets the volumes of its pods', async () => {
  const base = createTestContext();
  seedVolume(base);
  base.server.seed(Pods, user);
  base.server.seed(Nodes, node({ name: 'a' }));
  await whileRunning(base, createAttachDetachController(base.context, options), async () => {
    expect(attachmentsOf(base)).toEqual([]);
    await base.server.patch(Nodes, objectKey(undefined, 'a'), { type: 'merge', body: { metadata: managed } }, signal);
    await settle();
    expect(attachmentsOf(base)).toEqual([attachment]);
  });
});

test('changes of a pod that concern no volume cost nothing', async () => {
  const base = createTestContext();
  seedVolume(base);
  base.server.seed(Pods, user);
  base.server.seed(Nodes, machine({ isReported: true }));
  base.server.seed(VolumeAttachments, attachmentObject(true));
  await whileRunning(base, createAttachDetachController(base.context, options), async () => {
    const adds = async (): Promise<string | undefined> =>
      /workqueue_adds_total\{name="pvcs"\} (\d+)/.exec(await base.context.metrics.metrics())?.[1];
    const before = await adds();
    const running = { type: 'merge', subresource: 'status', body: { status: { phase: 'Running' } } } as const;
    await base.server.patch(Pods, keyOf(user), running, signal);
    await settle();
    expect(await adds()).toBe(before);
  });
});

test('a volume that a CSI driver makes for a pod is counted, and not attached', async () => {
  const base = createTestContext();
  const volumes = ['a', 'b'].map((name) => ({ name, csi: { driver: 'secrets.example.com' } }));
  base.server.seed(Nodes, machine());
  base.server.seed(Pods, pod({ name: 'user', spec: { nodeName: 'a', volumes } }));
  const plugin = 'kubernetes.io/csi:secrets.example.com';
  await whileRunning(base, createAttachDetachController(base.context, options), async () => {
    await settle();
    expect(await base.context.metrics.metrics()).toContain(
      `storage_count_attachable_volumes_in_use{node="a",volume_plugin="${plugin}"} 2\n`,
    );
  });
  expect(base.client.writes).toEqual([]);
});

test('metrics count the volumes of both states, those of pods, and forced detaches', async () => {
  const base = createTestContext();
  const linesOf = async (part: string): Promise<string[]> =>
    (await base.context.metrics.metrics()).split('\n').filter((line) => line.startsWith(part));
  const plugin = `kubernetes.io/csi:${driver}`;
  seedVolume(base);
  base.server.seed(Pods, user);
  base.server.seed(Nodes, machine({ inUse: true, isReported: true }));
  base.server.seed(VolumeAttachments, attachmentObject(true));
  await whileRunning(base, createAttachDetachController(base.context, options), async () => {
    expect(await linesOf('storage_count')).toEqual([
      `storage_count_attachable_volumes_in_use{node="a",volume_plugin="${plugin}"} 1`,
    ]);
    expect(await linesOf('attachdetach_controller_total_volumes')).toEqual([
      `attachdetach_controller_total_volumes{plugin_name="${plugin}",state="desired_state_of_world"} 1`,
      `attachdetach_controller_total_volumes{plugin_name="${plugin}",state="actual_state_of_world"} 1`,
    ]);
    const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }];
    await base.server.patch(Nodes, objectKey(undefined, 'a'), { type: 'merge', body: { spec: { taints } } }, signal);
    await deletePod(base);
    await untilReported(base);
  });
  expect(await linesOf('storage_count')).toEqual([]);
  expect(await linesOf('attachdetach_controller_total_volumes')).toEqual([]);
  expect(await linesOf('attach_detach_controller')).toEqual([
    'attach_detach_controller_attachdetach_controller_forced_detaches{reason="out-of-service"} 1',
  ]);
  const labels = `volume_plugin="${plugin}",operation_name="volume_detach",status="success",migrated="false"`;
  expect(await linesOf('storage_operation_duration_seconds_count')).toEqual([
    `storage_operation_duration_seconds_count{${labels}} 1`,
  ]);
});
