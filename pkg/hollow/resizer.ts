import {
  keyOf,
  metadataOf,
  objectKey,
  ownValue,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Cached,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../api/index.ts';
import { isConflict, isNotFound, type Client } from '../client/index.ts';
import { nanoValue } from '../quantities/index.ts';
import { provisionedBy } from '../volumes/index.ts';
import { hollowDriver } from './csi.ts';

type Claim = Cached<PersistentVolumeClaim>;

/** The conditions of a claim during a resize, and after a failed one. */
const resizeConditions = ['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'];

/** Merge patches: first of the volume, if it is too small, then of the status of the claim. */
export interface Resize {
  readonly volume: object | undefined;
  readonly claim: object;
}

const storageOf = (amounts: Readonly<Record<string, string>> | undefined): string =>
  ownValue(amounts, 'storage') ?? '0';
const isLess = (left: string, right: string): boolean => (nanoValue(left) ?? 0n) < (nanoValue(right) ?? 0n);

/** How a claim gets the storage that it requests; undefined if it has as much, or if its volume is not simulated. */
export function planResize(claim: Claim, volume: Cached<PersistentVolume> | undefined): Resize | undefined {
  const { metadata, spec, status } = claim;
  if (status?.phase !== 'Bound' || volume?.spec.claimRef?.uid !== metadata.uid) return undefined;
  if (ownValue(volume?.metadata.annotations, provisionedBy) !== hollowDriver) return undefined;
  const requested = storageOf(spec.resources?.requests);
  if (!isLess(storageOf(status.capacity), requested)) return undefined;
  const size = storageOf(volume?.spec.capacity);
  const isTooSmall = isLess(size, requested);
  return {
    volume: isTooSmall ? { spec: { capacity: { storage: requested } } } : undefined,
    claim: {
      metadata: { resourceVersion: metadata.resourceVersion }, // the list of conditions is replaced as a whole
      status: { capacity: { storage: isTooSmall ? requested : size }, ...finished(status) },
    },
  };
}

/** Clears what says that the resize goes on. */
function finished({ conditions, allocatedResourceStatuses }: NonNullable<Claim['status']>): object {
  const isOver = ({ type }: { readonly type: string }): boolean => resizeConditions.includes(type);
  return {
    ...(conditions?.some(isOver) === true && { conditions: conditions.filter((each) => !isOver(each)) }),
    ...(ownValue(allocatedResourceStatuses, 'storage') !== undefined && {
      allocatedResourceStatuses: { storage: null },
    }),
  };
}

export async function applyResize(client: Client, claim: Claim, resize: Resize, signal: AbortSignal): Promise<void> {
  const volume = objectKey(undefined, claim.spec.volumeName ?? '');
  try {
    if (resize.volume !== undefined)
      await client.patch(metadataOf(PersistentVolumes), volume, { type: 'merge', body: resize.volume }, signal);
    const status = { type: 'merge', subresource: 'status', body: resize.claim } as const;
    await client.patch(metadataOf(PersistentVolumeClaims), keyOf(claim), status, signal);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error; // the next state of the object enqueues it
  }
}
