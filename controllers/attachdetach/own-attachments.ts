import { isBeingDeleted, objectKey, type VolumeAttachment } from '../../pkg/api/index.ts';
import { attachmentName, splitCsiUniqueName } from '../../pkg/volumes/index.ts';
import type { Store } from '../../informers/index.ts';
import type { AttachmentObject } from './plan.ts';

type Attachments = Pick<Store<VolumeAttachment>, 'get' | 'hasSeen'>;

/** The name of the VolumeAttachment of a volume; undefined for plugins without. */
export function attachmentNameOf(volumeName: string, nodeName: string): string | undefined {
  const csi = splitCsiUniqueName(volumeName);
  return csi && attachmentName(csi.driver, csi.volumeHandle, nodeName);
}

/** The VolumeAttachments of operations and of uncertain attachments: whose they are, and whether the cache has them yet. */
export class OwnAttachments {
  readonly #store: Attachments;
  readonly #volumes = new Map<string, string>();
  /** The resource versions of those that this process created. */
  readonly #created = new Map<string, string>();

  constructor(store: Attachments) {
    this.#store = store;
  }

  /** The volume that waits for this VolumeAttachment. */
  volumeOf(name: string): string | undefined {
    return this.#volumes.get(name);
  }

  follow(name: string, volumeName: string): void {
    this.#volumes.set(name, volumeName);
  }

  created(name: string, resourceVersion: string): void {
    this.#created.set(name, resourceVersion);
  }

  forget(name: string): void {
    this.#volumes.delete(name);
    this.#created.delete(name);
  }

  read(name: string): AttachmentObject {
    const attachment = this.#store.get(objectKey(undefined, name));
    if (attachment === undefined) {
      const version = this.#created.get(name);
      return { kind: version === undefined || this.#store.hasSeen(version) ? 'absent' : 'unobserved' };
    }
    const { attached, attachError, detachError } = attachment.status ?? {};
    return {
      kind: 'present',
      isBeingDeleted: isBeingDeleted(attachment.metadata),
      isAttached: attached === true,
      attachError: attachError && (attachError.message ?? ''),
      detachError: detachError && (detachError.message ?? ''),
    };
  }
}
