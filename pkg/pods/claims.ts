import {
  isControlledBy,
  keyOf,
  objectKey,
  type Cached,
  type ObjectKey,
  type PersistentVolumeClaim,
  type Pod,
} from '../api/index.ts';

/** A claim that a volume of a pod names. */
export interface ClaimReference {
  readonly key: ObjectKey;
  /** The claim is made for this pod alone. A claim of this name that the pod does not control is not meant. */
  readonly isEphemeral: boolean;
}

/** The claims that the volumes of a pod name, in the order of the volumes. */
export function claimReferencesOf({ metadata, spec }: Cached<Pod>): ClaimReference[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }): ClaimReference[] => {
    if (persistentVolumeClaim !== undefined) {
      return [{ key: objectKey(metadata.namespace, persistentVolumeClaim.claimName), isEphemeral: false }];
    }
    if (ephemeral === undefined) return [];
    return [{ key: objectKey(metadata.namespace, ephemeralClaimName(metadata.name, name)), isEphemeral: true }];
  });
}

export function ephemeralClaimName(podName: string, volumeName: string): string {
  return `${podName}-${volumeName}`;
}

/** How the volumes of a pod refer to this claim. */
export function referencesTo(claim: Cached<PersistentVolumeClaim>, pod: Cached<Pod>): ClaimReference[] {
  const key = keyOf(claim);
  return claimReferencesOf(pod).filter(
    (reference) => reference.key === key && (!reference.isEphemeral || isControlledBy(claim, pod)),
  );
}
