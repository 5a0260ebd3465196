import { ownValue, type Cached, type PersistentVolume, type PersistentVolumeClaim } from '../../pkg/api/index.ts';
import { nanoValue } from '../../pkg/quantities/index.ts';
import { csiDriverOf, inTreePluginOf } from '../../pkg/volumes/index.ts';

type Claim = Cached<PersistentVolumeClaim>;

/** On a claim: who is to expand its volume. */
export const resizerAnnotation = 'volume.kubernetes.io/storage-resizer';
/** On a volume: the size of its claim before an expansion that its node has not finished. */
const preResizeAnnotation = 'volume.alpha.kubernetes.io/pre-resize-capacity';

export type Expansion =
  | { readonly kind: 'none' }
  | { readonly kind: 'unbound' }
  /** Somebody else expands it, and is told by `resizer` if it is set. */
  | { readonly kind: 'external'; readonly message: string; readonly resizer?: string | undefined };

const sizeOf = (amounts: Readonly<Record<string, string>> | undefined): bigint =>
  nanoValue(ownValue(amounts, 'storage') ?? '0') ?? 0n;
const requested = ({ spec }: Claim): bigint => sizeOf(spec?.resources?.requests);
const capacity = ({ status }: Claim): bigint => sizeOf(status?.capacity);

/** Whether a change of a claim can mean that its volume has to be expanded, or was. */
export function hasGrown(before: Claim, after: Claim): boolean {
  return requested(after) > requested(before) || capacity(after) > capacity(before);
}

/** Who has to expand the volume of a claim. */
export function planExpansion(claim: Claim, volume: Cached<PersistentVolume>): Expansion {
  const { claimRef } = volume.spec;
  if (claimRef?.namespace !== claim.metadata.namespace || claimRef?.uid !== claim.metadata.uid)
    return { kind: 'unbound' };
  const isGrowing = requested(claim) > capacity(claim);
  if (!isGrowing && ownValue(volume.metadata.annotations, preResizeAnnotation) === undefined) return { kind: 'none' };
  const plugin = inTreePluginOf(volume.spec);
  if (plugin === undefined) {
    return { kind: 'external', message: 'waiting for an external controller to expand this PVC' };
  }
  const message = `CSI migration enabled for ${plugin}; waiting for external resizer to expand the pvc`;
  return { kind: 'external', message, resizer: csiDriverOf(plugin) };
}
