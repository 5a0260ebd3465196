import type { ObjectReference, PersistentVolumeClaim } from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import type { Claim, Class, Volume } from '../../pkg/volumes/index.ts';
import type { Provisioner } from './plugins.ts';

/** Changes to metadata and spec. A field that is not set stays. */
export interface VolumeEdit {
  /** Null: removed. */
  readonly claimRef?: ObjectReference | null;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

export interface ClaimEdit {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly volumeName?: string;
  readonly storageClassName?: string;
}

export type VolumePhase = 'Available' | 'Bound' | 'Released' | 'Failed';
export type ClaimStatus = NonNullable<PersistentVolumeClaim['status']>;

/** A step towards the desired state. The order matters, and a step that fails ends the sync. */
export type Action =
  | { readonly kind: 'edit-volume'; readonly edit: VolumeEdit }
  /** Recorded once the phase is written. */
  | { readonly kind: 'set-volume-phase'; readonly phase: VolumePhase; readonly event?: NewEvent }
  | { readonly kind: 'edit-claim'; readonly edit: ClaimEdit }
  | { readonly kind: 'set-claim-status'; readonly status: ClaimStatus; readonly event?: NewEvent }
  /** The claim named no class, and gets the default one. */
  | { readonly kind: 'assign-class'; readonly className: string }
  | { readonly kind: 'record'; readonly about: 'claim' | 'volume'; readonly event: NewEvent }
  /** The next sync of the claim finishes the binding. */
  | { readonly kind: 'enqueue-claim' }
  | { readonly kind: 'provision'; readonly storageClass: Class; readonly provisioner: Provisioner }
  | { readonly kind: 'recycle' }
  | { readonly kind: 'delete' }
  /** What was found should not be. The claim is tried again with back-off. */
  | { readonly kind: 'fail'; readonly message: string };

export function warning(reason: string, message: string): NewEvent {
  return { type: 'Warning', reason, message };
}

export function normal(reason: string, message: string): NewEvent {
  return { type: 'Normal', reason, message };
}

/** The volume with an edit. */
export function editVolume(volume: Volume, { claimRef, annotations, finalizers }: VolumeEdit): Volume {
  const { claimRef: before, ...spec } = volume.spec;
  const reference = claimRef === undefined ? before : claimRef;
  return {
    ...volume,
    metadata: {
      ...volume.metadata,
      annotations: annotations ?? volume.metadata.annotations,
      finalizers: finalizers ?? volume.metadata.finalizers,
    },
    spec: reference === undefined || reference === null ? spec : { ...spec, claimRef: reference },
  };
}

/** The claim with an edit. */
export function editClaim(claim: Claim, { annotations, ...spec }: ClaimEdit): Claim {
  return {
    ...claim,
    metadata: { ...claim.metadata, annotations: annotations ?? claim.metadata.annotations },
    spec: { ...claim.spec, ...spec },
  };
}
