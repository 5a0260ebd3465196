import { CoreEvents, Nodes } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { csiUniqueName } from '../../pkg/volumes/index.ts';
import { driver, type AttachUser } from './attach-user.ts';
import { eventually } from './eventually.ts';

export interface AttachStage {
  readonly user: AttachUser;
  readonly client: Client;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

export type AttachPlay = (stage: AttachStage) => Promise<void>;

async function untilEvent({ client, namespace, signal }: AttachStage, reason: string, text: string): Promise<void> {
  await eventually(async () => {
    const { items } = await client.listAll(CoreEvents, { namespace }, signal);
    return items.some((event) => event.reason === reason && (event.message ?? '').includes(text));
  }, signal);
}

/** A volume is attached, used, and detached once the kubelet has unmounted it. */
export const attachAndDetach: AttachPlay = async ({ user }) => {
  await user.node('node');
  for (const name of ['gone', 'kept']) await user.boundClaim(name);
  await user.pod('gone', 'node', 'gone');
  await user.pod('kept', 'node', 'kept');
  for (const name of ['gone', 'kept']) await user.setAttachment(user.attachmentName(name, 'node'), { attached: true });
  await user.untilReported('node', user.uniqueName('gone'), user.uniqueName('kept'));
  await user.use('node', user.uniqueName('gone'), user.uniqueName('kept'));
  await user.deletePod('gone');
  await user.use('node', user.uniqueName('kept'));
  await user.letGo(user.attachmentName('gone', 'node'));
  await user.untilReported('node', user.uniqueName('kept'));
};

/** The external attacher fails at first. */
export const failToAttach: AttachPlay = async (stage) => {
  const { user } = stage;
  await user.node('node');
  await user.boundClaim('slow');
  await user.pod('slow', 'node', 'slow');
  const name = user.attachmentName('slow', 'node');
  await user.setAttachment(name, { attached: false, attachError: { message: 'the disk is on fire' } });
  await untilEvent(stage, 'FailedAttachVolume', 'the disk is on fire');
  await user.setAttachment(name, { attached: true, attachError: null });
  await user.untilReported('node', user.uniqueName('slow'));
};

/** Pods on two nodes need a volume that only one node may have. */
export const shareExclusive: AttachPlay = async (stage) => {
  const { user } = stage;
  for (const node of ['first', 'second']) await user.node(node);
  await user.boundClaim('disk');
  await user.boundClaim('shared', undefined, ['ReadWriteMany']);
  await user.pod('one', 'first', 'disk');
  await user.setAttachment(user.attachmentName('disk', 'first'), { attached: true });
  await user.untilReported('first', user.uniqueName('disk'));
  await user.use('first', user.uniqueName('disk'));
  await user.pod('two', 'second', 'disk');
  await untilEvent(stage, 'FailedAttachVolume', 'Volume is already used by pod(s) one');
  await user.pod('shared-one', 'first', 'shared');
  await user.pod('shared-two', 'second', 'shared');
  for (const node of ['first', 'second']) {
    await user.setAttachment(user.attachmentName('shared', node), { attached: true });
  }
  await user.deletePod('one');
  await user.use('first');
  await user.letGo(user.attachmentName('disk', 'first'));
  await user.setAttachment(user.attachmentName('disk', 'second'), { attached: true });
  await user.untilReported('first', user.uniqueName('shared'));
  await user.untilReported('second', user.uniqueName('disk'), user.uniqueName('shared'));
};

/** Volumes of plugins that were part of Kubernetes, with and without a PersistentVolume. */
export const attachMigrated: AttachPlay = async ({ user }) => {
  await user.node('node');
  const ebs = { driver: 'ebs.csi.aws.com', handle: `vol-${user.nameOf('ebs')}` };
  const gce = {
    driver: 'pd.csi.storage.gke.io',
    handle: `projects/UNSPECIFIED/zones/UNSPECIFIED/disks/${user.nameOf('gce')}`,
  };
  await user.boundClaim('ebs', { awsElasticBlockStore: { volumeID: `aws://zone/${ebs.handle}`, fsType: 'ext4' } });
  await user.pod('ebs', 'node', 'ebs');
  await user.pod('gce', 'node', [{ name: 'data', gcePersistentDisk: { pdName: user.nameOf('gce'), readOnly: true } }]);
  for (const of of [ebs, gce]) await user.setAttachment(user.attachmentName('', 'node', of), { attached: true });
  await user.untilReported('node', csiUniqueName(ebs.driver, ebs.handle), csiUniqueName(gce.driver, gce.handle));
};

/** Nodes, volumes and drivers for which nothing is to be attached, or nothing but the status of the node says so. */
export const attachNothing: AttachPlay = async ({ user }) => {
  await user.node('node');
  await user.node('unmanaged', { isManaged: false });
  const iqn = `iqn.2001-04.com.example:${user.nameOf('disk')}`;
  await user.csiDriver('local', false);
  await user.boundClaim('unmanaged');
  await user.boundClaim('local', { csi: { driver: user.nameOf('local'), volumeHandle: 'local' } });
  await user.boundClaim('iscsi', {
    iscsi: { targetPortal: '10.0.0.1:3260', iqn, lun: 2 },
  });
  await user.boundClaim('fc', { fc: { targetWWNs: [user.nameOf('a'), user.nameOf('b')], lun: 0 } });
  await user.pod('unmanaged', 'unmanaged', 'unmanaged');
  await user.pod('local', 'node', 'local');
  await user.pod('iscsi', 'node', 'iscsi');
  await user.pod('fc', 'node', 'fc');
  await user.untilReported(
    'node',
    `kubernetes.io/iscsi/10.0.0.1:3260:${iqn}:2`,
    `kubernetes.io/fc/[${user.nameOf('a')} ${user.nameOf('b')}]:0`,
  );
};

/** Machines that are lost, with their volumes in use: one is declared out of service, the Node of one is deleted. */
export const loseNodes: AttachPlay = async ({ user }) => {
  for (const node of ['broken', 'removed']) {
    await user.node(node);
    await user.boundClaim(node);
    await user.pod(node, node, node);
    await user.setAttachment(user.attachmentName(node, node), { attached: true });
    await user.untilReported(node, user.uniqueName(node));
  }
  await user.use('broken', user.uniqueName('broken'));
  await user.setHealth('broken', false);
  await user.deletePod('broken');
  await user.taint('broken', 'node.kubernetes.io/out-of-service');
  await user.letGo(user.attachmentName('broken', 'broken'));
  await user.volumes.delete(Nodes, 'removed');
  await user.deletePod('removed');
  await user.letGo(user.attachmentName('removed', 'removed'));
};

/** Whom the VolumeAttachments that are left belong to, by their names: these are hashes. */
export function attachmentSymbols(user: AttachUser): ReadonlyMap<string, string> {
  const nodes = ['node', 'first', 'second'];
  const own = ['kept', 'slow', 'disk', 'shared'].map((name) => ({ driver, handle: user.nameOf(name) }));
  const ebs = { driver: 'ebs.csi.aws.com', handle: `vol-${user.nameOf('ebs')}` };
  const gce = {
    driver: 'pd.csi.storage.gke.io',
    handle: `projects/UNSPECIFIED/zones/UNSPECIFIED/disks/${user.nameOf('gce')}`,
  };
  return new Map(
    nodes.flatMap((node) =>
      [...own, ebs, gce].map(
        (of) => [user.attachmentName('', node, of), `${of.driver}-${of.handle}-on-${node}`] as const,
      ),
    ),
  );
}
