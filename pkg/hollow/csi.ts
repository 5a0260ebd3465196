import {
  CSINodes,
  isBeingDeleted,
  keyOf,
  metadataOf,
  VolumeAttachments,
  type Cached,
  type CSINode,
  type Node,
  type ObjectKey,
  type Unsaved,
  type VolumeAttachment,
} from '../api/index.ts';
import { isAlreadyExists, isConflict, isNotFound, type Client } from '../client/index.ts';
import type { ReconcileResult } from '../controller/index.ts';
import type { Handler, Store } from '../../informers/index.ts';
import type { WorkQueue } from '../../workqueue/index.ts';
import type { Fleet } from './fleet.ts';

/** The CSI driver of simulated nodes. */
export const hollowDriver = 'hollow-node.csi.local';
/** How many volumes of this driver a node takes: as many as the largest machines of clouds. */
export const attachableVolumes = 128;

/** What the kubelet says of the CSI drivers on its node. The garbage collector deletes it with the Node. */
export function buildCsiNode({ metadata: { name, uid } }: Pick<Cached<Node>, 'metadata'>): Unsaved<CSINode> {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { drivers: [{ name: hollowDriver, nodeID: name, allocatable: { count: attachableVolumes } }] },
  };
}

export async function createCsiNode(
  client: Client,
  node: Pick<Cached<Node>, 'metadata'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(metadataOf(CSINodes), buildCsiNode(node), signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

export interface AttacherOptions {
  readonly client: Client;
  readonly fleet: Fleet;
  readonly attachments: Pick<Store<VolumeAttachment>, 'get'>;
  readonly queue: WorkQueue<ObjectKey>;
}

export interface Attacher {
  readonly handler: Handler<VolumeAttachment>;
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult>;
}

/** Attaches volumes to simulated nodes like the external attachers of all CSI drivers: at once, and never in vain. */
export function createAttacher({ attachments, client, fleet, queue }: AttacherOptions): Attacher {
  const enqueue = (attachment: Cached<VolumeAttachment>): void => {
    if (fleet.find(attachment.spec.nodeName) !== undefined) queue.add(keyOf(attachment));
  };

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const attachment = attachments.get(key);
    if (attachment === undefined) return {};
    const patch = planAttachmentPatch(attachment);
    if (patch === undefined) return {};
    try {
      await client.patch(metadataOf(VolumeAttachments), key, patch, signal);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // the next state of the object enqueues it
    }
    return {};
  }

  return { handler: { added: enqueue, updated: (_before, after) => enqueue(after) }, reconcile };
}

type AttachmentPatch = { readonly type: 'merge'; readonly body: object; readonly subresource?: string };

/** The next write of an external attacher: its finalizer, then the status; at last the finalizer goes. */
export function planAttachmentPatch({ metadata, spec, status }: Cached<VolumeAttachment>): AttachmentPatch | undefined {
  const finalizer = `external-attacher/${spec.attacher.replaceAll('.', '-')}`;
  const finalizers = metadata.finalizers ?? [];
  const isMarked = finalizers.includes(finalizer);
  const { resourceVersion } = metadata;
  if (isBeingDeleted(metadata)) {
    if (!isMarked) return undefined;
    const others = finalizers.filter((other) => other !== finalizer);
    return { type: 'merge', body: { metadata: { resourceVersion, finalizers: others } } };
  }
  if (!isMarked)
    return { type: 'merge', body: { metadata: { resourceVersion, finalizers: [...finalizers, finalizer] } } };
  if (status?.attached === true) return undefined;
  return { type: 'merge', body: { status: { attached: true, attachError: null } }, subresource: 'status' };
}
