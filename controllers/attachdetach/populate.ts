import {
  objectKey,
  type Cached,
  type CSIDriver,
  type Node,
  type PersistentVolume,
  type VolumeAttachment,
} from '../../pkg/api/index.ts';
import type { Store } from '../../informers/index.ts';
import { attachablePersistentVolume, csiUniqueName, type AttachableVolume } from '../../pkg/volumes/index.ts';
import { isManagedNode } from './node-facts.ts';
import { attachmentNameOf } from './own-attachments.ts';
import { attaches } from './pod-volumes.ts';
import type { World } from './world.ts';

export interface InitialObjects {
  readonly nodes: readonly Cached<Node>[];
  readonly attachments: readonly Cached<VolumeAttachment>[];
  readonly volumes: Pick<Store<PersistentVolume>, 'get'>;
  readonly drivers: Pick<Store<CSIDriver>, 'get'>;
}

/**
 * What earlier processes left. A VolumeAttachment that the status of its node does not have may be that of an attach or of
 * a detach: it is attached again, which finds it, or detached.
 */
export function populate({ actual, desired, own }: World, objects: InitialObjects): void {
  for (const node of objects.nodes) {
    if (isManagedNode(node)) desired.manage(node.metadata.name);
    for (const { name, devicePath } of node.status?.volumesAttached ?? []) {
      actual.markAttached(name, node.metadata.name, { devicePath });
    }
  }
  for (const attachment of objects.attachments) {
    const found = volumeOf(attachment, objects);
    if (found === undefined) continue;
    const { nodeName } = attachment.spec;
    const { uniqueName, volume } = found;
    if (attachmentNameOf(uniqueName, nodeName) !== attachment.metadata.name) continue; // another's
    if (actual.attachmentsOf(uniqueName).get(nodeName) !== undefined) continue;
    actual.markUncertain(uniqueName, nodeName, volume);
    own.follow(attachment.metadata.name, uniqueName); // with it, the uncertainty ends
  }
}

interface Found {
  readonly uniqueName: string;
  readonly volume?: AttachableVolume | undefined;
}

function volumeOf({ spec }: Cached<VolumeAttachment>, { volumes, drivers }: InitialObjects): Found | undefined {
  const { inlineVolumeSpec, persistentVolumeName } = spec.source;
  if (inlineVolumeSpec?.csi !== undefined) {
    return { uniqueName: csiUniqueName(spec.attacher, inlineVolumeSpec.csi.volumeHandle) };
  }
  const persistent = volumes.get(objectKey(undefined, persistentVolumeName ?? ''));
  const volume = persistent && attachablePersistentVolume(persistent);
  if (volume?.csi === undefined) return undefined;
  if (!volume.isMigrated && !attaches(drivers.get(objectKey(undefined, volume.csi.driver)))) return undefined;
  return { uniqueName: volume.uniqueName, volume };
}
