import {
  apiVersionOf,
  controllerReference,
  copyOf,
  isBeingDeleted,
  isControlledBy,
  PersistentVolumeClaims,
  Pods,
  type Cached,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { ephemeralClaimName } from '../../pkg/pods/index.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];

/** What is to be done for one volume. */
export type Action =
  | { readonly kind: 'create'; readonly volume: string; readonly claim: Unsaved<PersistentVolumeClaim> }
  /** The name of the claim is taken. */
  | { readonly kind: 'conflict'; readonly volume: string; readonly problem: string };

export function hasEphemeralVolumes({ spec }: Cached<Pod>): boolean {
  return (spec.volumes ?? []).some(({ ephemeral }) => ephemeral !== undefined);
}

/** What is to be done for the volumes of a pod, in their order; nothing if it is being deleted. `find` gives the claim of a name, if it exists. */
export function planClaims(
  pod: Cached<Pod>,
  find: (claimName: string) => Cached<PersistentVolumeClaim> | undefined,
): Action[] {
  if (isBeingDeleted(pod.metadata)) return [];
  return (pod.spec.volumes ?? []).flatMap((volume): Action[] => {
    if (volume.ephemeral === undefined) return [];
    const claim = find(ephemeralClaimName(pod.metadata.name, volume.name));
    if (claim === undefined) return [{ kind: 'create', volume: volume.name, claim: claimFor(pod, volume) }];
    return isControlledBy(claim, pod)
      ? []
      : [{ kind: 'conflict', volume: volume.name, problem: describeConflict(pod, claim) }];
  });
}

function claimFor(pod: Cached<Pod>, volume: Cached<Volume>): Unsaved<PersistentVolumeClaim> {
  const { metadata, spec } = copyOf<Volume>(volume).ephemeral?.volumeClaimTemplate ?? { spec: {} };
  return {
    apiVersion: apiVersionOf(PersistentVolumeClaims),
    kind: PersistentVolumeClaims.kind,
    metadata: {
      name: ephemeralClaimName(pod.metadata.name, volume.name),
      namespace: pod.metadata.namespace,
      labels: metadata?.labels,
      annotations: metadata?.annotations,
      ownerReferences: [controllerReference(Pods, pod)],
    },
    spec,
  };
}

function describeConflict({ metadata }: Cached<Pod>, claim: Cached<PersistentVolumeClaim>): string {
  const claimName = `${claim.metadata.namespace ?? ''}/${claim.metadata.name}`;
  const podName = `${metadata.namespace ?? ''}/${metadata.name}`;
  return `PVC ${claimName} was not created for pod ${podName} (pod is not owner)`;
}
