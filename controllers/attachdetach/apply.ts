import { keyOf, metadataOf, Nodes, objectKey, VolumeAttachments, type Cached, type Node } from '../../pkg/api/index.ts';
import { AttemptError, isAlreadyExists, isNotFound, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import { attachmentName, type AttachableVolume } from '../../pkg/volumes/index.ts';
import type { ReportedVolume } from './actual-state.ts';

/** Creates the VolumeAttachment. Undefined if there is one already, which the cache does not have yet. */
export async function createAttachment(
  client: Client,
  csi: NonNullable<AttachableVolume['csi']>,
  nodeName: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { driver, volumeHandle, source } = csi;
  const metadata = { name: attachmentName(driver, volumeHandle, nodeName) };
  const spec = { attacher: driver, nodeName, source: structuredClone(source) };
  try {
    const created = await client.create(VolumeAttachments, { metadata, spec }, signal);
    return created.metadata.resourceVersion;
  } catch (error) {
    if (isAlreadyExists(error)) return undefined;
    throw new AttemptError('attacher.Attach failed', error);
  }
}

/** The external attacher detaches, and then removes its finalizer. */
export async function deleteAttachment(client: Client, name: string, signal: AbortSignal): Promise<void> {
  try {
    await client.delete(VolumeAttachments, objectKey(undefined, name), {}, signal);
  } catch (error) {
    if (!isNotFound(error)) throw new AttemptError(`delete VolumeAttachment ${name}`, error);
  }
}

/** The live answer: a kubelet may have begun to mount since the cache observed the node. */
export async function isInUseLive(
  client: Client,
  nodeName: string,
  volumeName: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { status } = await client.get(Nodes, objectKey(undefined, nodeName), signal);
    return (status?.volumesInUse ?? []).includes(volumeName);
  } catch (error) {
    if (isNotFound(error)) return false;
    throw new AttemptError(`read node ${nodeName}`, error);
  }
}

/** Writes which volumes are attached. A node that is gone needs none. */
export async function applyReport(
  node: Cached<Node>,
  volumes: readonly ReportedVolume[],
  { client, pending }: { readonly client: Client; readonly pending: PendingWrites<Node> },
  signal: AbortSignal,
): Promise<void> {
  const volumesAttached = volumes.length === 0 ? null : volumes;
  const patch = { type: 'strategic', body: { status: { volumesAttached } }, subresource: 'status' } as const;
  try {
    const { metadata } = await client.patch(metadataOf(Nodes), keyOf(node), patch, signal);
    pending.wrote(keyOf(node), metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
