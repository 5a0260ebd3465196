import { describe, expect, test } from 'vitest';

import {
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
const attachmentTo = (nodeName: string): string => attachmentName(driver, 'handle', nodeName);
const [gone, next] = [attachmentTo('gone'), attachmentTo('next')];
const minutes = (count: number): number => count * 60_000;

/** An exclusive volume that is attached to the node `gone`, and a pod on the node `next` that needs it. */
function createContext(): TestContext {
  const base = createTestContext();
  const { server } = base;
  const claim = persistentVolumeClaim({ name: 'data', spec: { volumeName: 'pv' }, status: { phase: 'Bound' } });
  const claimRef = { uid: claim.metadata.uid, namespace: 'default', name: 'data' };
  const volume = { accessModes: ['ReadWriteOnce'], csi: { driver, volumeHandle: 'handle' }, claimRef };
  server.seed(PersistentVolumeClaims, claim);
  server.seed(PersistentVolumes, build<PersistentVolume>(PersistentVolumes, { name: 'pv' }, { spec: volume }));
  const spec = { attacher: driver, nodeName: 'gone', source: { persistentVolumeName: 'pv' } };
  const object = { spec, status: { attached: true } };
  server.seed(VolumeAttachments, build<VolumeAttachment>(VolumeAttachments, { name: gone }, object));
  server.seed(Nodes, machine('next'));
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  server.seed(Pods, pod({ name: 'user', spec: { nodeName: 'next', volumes } }));
  return base;
}

function machine(name: string, status: Node['status'] = {}): Node {
  const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
  const conditions = [{ type: 'Ready', status: 'True' }];
  return node({ name, metadata: { annotations }, status: { conditions, ...status } });
}

const attachmentsOf = ({ server }: TestContext): string[] =>
  server.stored(VolumeAttachments).map(({ metadata }) => metadata.name);

/** The VolumeAttachments at once, before six minutes are over, and after. */
async function attachmentsInTime(base: TestContext): Promise<string[][]> {
  const seen = [];
  for (const minute of [5.9, 0.2, 0]) {
    await settle();
    seen.push(attachmentsOf(base));
    await base.clock.advance(minutes(minute));
  }
  return seen;
}

const control = (base: TestContext, isForceDetachDisabled: boolean) =>
  createAttachDetachController(base.context, { verifyPeriodMs: undefined, isForceDetachDisabled });

describe('a volume of a Node that was deleted before this process started', () => {
  test('is detached by force after six minutes, and the next pod gets it', async () => {
    const base = createContext();
    await whileRunning(base, control(base, false), async () => {
      expect(await attachmentsInTime(base)).toEqual([[gone], [gone], [next]]);
    });
  });

  test('goes to the next pod after six minutes too if force is disabled', async () => {
    const base = createContext();
    await whileRunning(base, control(base, true), async () => {
      expect(await attachmentsInTime(base)).toEqual([[gone], [gone], [gone, next]]);
    });
  });

  test.for([true, false])(
    'goes to the next pod as soon as its VolumeAttachment is gone; force disabled: %s',
    async (isForceDetachDisabled) => {
      const base = createContext();
      await whileRunning(base, control(base, isForceDetachDisabled), async () => {
        await settle();
        await base.server.delete(VolumeAttachments, objectKey(undefined, gone), {}, signal);
        await settle();
        expect(attachmentsOf(base)).toEqual([next]);
      });
    },
  );
});

describe('a volume of a Node that is deleted', () => {
  async function deleteNode(volumesInUse: string[], isForceDetachDisabled: boolean): Promise<string[][]> {
    const base = createContext();
    base.server.seed(Nodes, machine('gone', { volumesInUse, volumesAttached: [{ name: volumeName, devicePath: '' }] }));
    let seen: string[][] = [];
    await whileRunning(base, control(base, isForceDetachDisabled), async () => {
      await settle();
      await base.server.delete(Nodes, objectKey(undefined, 'gone'), {}, signal);
      seen = await attachmentsInTime(base);
    });
    return seen;
  }

  test('is detached with the next report if its kubelet did not use it', async () => {
    expect(await deleteNode([], true)).toEqual([[gone], [next], [next]]);
  });

  test('is detached by force after six minutes if its kubelet used it', async () => {
    expect(await deleteNode([volumeName], false)).toEqual([[gone], [gone], [next]]);
  });

  test('stays if its kubelet used it and force is disabled', async () => {
    expect(await deleteNode([volumeName], true)).toEqual([[gone], [gone], [gone]]);
  });
});
