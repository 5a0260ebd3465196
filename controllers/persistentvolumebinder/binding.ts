import {
  bindCompleted,
  boundByController,
  hasAnnotation,
  isReservedFor,
  referenceTo,
  type Claim,
  type MatchOptions,
  type Volume,
} from '../../pkg/volumes/index.ts';
import { editVolume, type Action, type ClaimEdit, type VolumeEdit, type VolumePhase } from './actions.ts';
import { boundStatus } from './claim-status.ts';

/**
 * Binds the two, or finishes a binding that a crash left half done: volume, phase of the volume, claim, status of the claim.
 * What is right already is not written.
 */
export function planBind(volume: Volume, claim: Claim, options: MatchOptions): Action[] {
  const volumeEdit = bindVolume(volume, claim);
  const claimEdit = bindClaim(claim, volume);
  const status = boundStatus(claim, volume, options);
  return [
    ...(volumeEdit === undefined ? [] : [{ kind: 'edit-volume', edit: volumeEdit } as const]),
    ...planPhase(volume, 'Bound'),
    ...(claimEdit === undefined ? [] : [{ kind: 'edit-claim', edit: claimEdit } as const]),
    ...(status === undefined ? [] : [{ kind: 'set-claim-status', status } as const]),
  ];
}

/** A volume that a user reserved does not get the annotation: when it is released, it stays reserved. */
function bindVolume(volume: Volume, claim: Claim): VolumeEdit | undefined {
  const { annotations = {} } = volume.metadata;
  const isMarked = isReservedFor(volume, claim) || hasAnnotation(volume, boundByController);
  const isBound = isReservedFor(volume, claim) && volume.spec.claimRef?.uid === claim.metadata.uid;
  if (isMarked && isBound) return undefined;
  return {
    ...(isBound ? {} : { claimRef: referenceTo(claim) }),
    ...(isMarked ? {} : { annotations: { ...annotations, [boundByController]: 'yes' } }),
  };
}

function bindClaim(claim: Claim, volume: Volume): ClaimEdit | undefined {
  const isNamed = claim.spec.volumeName === volume.metadata.name;
  if (isNamed && hasAnnotation(claim, bindCompleted)) return undefined;
  const { annotations = {} } = claim.metadata;
  const added = isNamed ? [bindCompleted] : [boundByController, bindCompleted];
  const missing = added.filter((name) => !hasAnnotation(claim, name)).map((name) => [name, 'yes']);
  return {
    annotations: { ...annotations, ...Object.fromEntries(missing) },
    ...(isNamed ? {} : { volumeName: volume.metadata.name }),
  };
}

/** Frees a volume from its claim. One that a user reserved stays reserved for the next claim of the name. */
export function planUnbind(volume: Volume): Action[] {
  const edit = unbindVolume(volume);
  return [{ kind: 'edit-volume', edit }, ...planPhase(editVolume(volume, edit), 'Available')];
}

function unbindVolume({ metadata, spec }: Volume): VolumeEdit {
  const { [boundByController]: mark, ...annotations } = metadata.annotations ?? {};
  if (mark !== undefined) return { claimRef: null, annotations };
  const { uid: _uid, ...reference } = spec.claimRef ?? {};
  return { claimRef: reference };
}

export function planPhase({ status }: Volume, phase: VolumePhase): Action[] {
  return status?.phase === phase ? [] : [{ kind: 'set-volume-phase', phase }];
}
