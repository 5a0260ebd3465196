import {
  CoreEvents,
  metadataOf,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
  type PersistentVolume,
} from '../../pkg/api/index.ts';
import type { AttachStage } from './attach-scenarios.ts';
import { driver } from './attach-user.ts';
import { eventually } from './eventually.ts';

/** The events of the namespace by the name of the claim. */
async function announcedFor({ client, namespace, signal }: AttachStage): Promise<Set<string | undefined>> {
  const { items } = await client.listAll(CoreEvents, { namespace }, signal);
  return new Set(
    items.filter(({ reason }) => reason === 'ExternalExpanding').map((event) => event.involvedObject.name),
  );
}

export async function growClaim({ client, namespace, signal }: AttachStage, name: string): Promise<void> {
  const body = { spec: { resources: { requests: { storage: '2Gi' } } } };
  await client.patch(metadataOf(PersistentVolumeClaims), objectKey(namespace, name), { type: 'merge', body }, signal);
}

/** Waits until users were told who expands these claims. */
export async function untilAnnounced(stage: AttachStage, ...names: string[]): Promise<void> {
  await eventually(async () => {
    const told = await announcedFor(stage);
    return names.every((name) => told.has(name));
  }, stage.signal);
}

export async function untilResizer(
  { client, namespace, signal }: AttachStage,
  name: string,
  resizer: string,
): Promise<void> {
  await eventually(async () => {
    const { metadata } = await client.get(PersistentVolumeClaims, objectKey(namespace, name), signal);
    return metadata.annotations?.['volume.kubernetes.io/storage-resizer'] === resizer;
  }, signal);
}

/** Bound claims of the given sources, in a class that allows to expand them. */
export async function createGrowing(
  { client, signal, user }: AttachStage,
  sources: Readonly<Record<string, Partial<PersistentVolume['spec']>>>,
): Promise<void> {
  const storageClassName = user.nameOf('class');
  const metadata = { name: storageClassName };
  await client.create(StorageClasses, { metadata, provisioner: driver, allowVolumeExpansion: true }, signal);
  for (const [name, source] of Object.entries(sources)) await user.boundClaim(name, { ...source, storageClassName });
}

/** Claims of all kinds of volumes grow, and resizers do their work. */
export async function expandClaims(stage: AttachStage): Promise<void> {
  const { client, namespace, signal, user } = stage;
  await createGrowing(stage, {
    csi: { csi: { driver, volumeHandle: 'h' } },
    ebs: { awsElasticBlockStore: { volumeID: 'vol-1' } },
    nfs: { nfs: { path: '/', server: 'server' } },
    same: { awsElasticBlockStore: { volumeID: 'vol-2' } },
    resized: { csi: { driver, volumeHandle: 'r' } },
  });
  for (const name of ['csi', 'ebs', 'nfs']) await growClaim(stage, name);
  await untilAnnounced(stage, 'csi', 'ebs', 'nfs');
  await untilResizer(stage, 'ebs', 'ebs.csi.aws.com');
  // The node has expanded the file system; the volume still says that this is to be done.
  const annotations = { 'volume.alpha.kubernetes.io/pre-resize-capacity': '1Gi' };
  const body = { metadata: { annotations } };
  const volume = objectKey(undefined, user.nameOf('resized'));
  await client.patch(metadataOf(PersistentVolumes), volume, { type: 'merge', body }, signal);
  const status = { status: { capacity: { storage: '2Gi' } } };
  const patch = { type: 'merge', subresource: 'status', body: status } as const;
  await client.patch(metadataOf(PersistentVolumeClaims), objectKey(namespace, 'resized'), patch, signal);
  await untilAnnounced(stage, 'resized');
  await client.patch(metadataOf(PersistentVolumeClaims), objectKey(namespace, 'csi'), patch, signal);
}
