import {
  migratedTo,
  migrateVolumeAnnotations,
  provisionedBy,
  annotationOf,
  hasAnnotation,
  modeOf,
  type Claim,
  type Volume,
} from '../../pkg/volumes/index.ts';
import { editVolume, warning, type Action, type VolumeEdit } from './actions.ts';
import { planPhase, planUnbind } from './binding.ts';
import { deletionFinalizers } from './finalizers.ts';

/** What becomes of a volume. `claim`: the one that it refers to by name and uid; undefined if there is none. */
export function planVolume(volume: Volume, claim: Claim | undefined): Action[] {
  const edit = prepare(volume);
  if (edit === undefined) return planPrepared(volume, claim);
  return [{ kind: 'edit-volume', edit }, ...planPrepared(editVolume(volume, edit), claim)];
}

/** The annotation and the finalizers that say who may delete the volume. */
function prepare({ metadata, spec }: Volume): VolumeEdit | undefined {
  const annotations = migrateVolumeAnnotations(metadata.annotations);
  const finalizers = deletionFinalizers({ metadata, spec });
  if (annotations === undefined && finalizers === undefined) return undefined;
  return { ...(annotations && { annotations }), ...(finalizers && { finalizers }) };
}

/** Whether the volume refers to a claim that is to be looked up. A reservation without uid waits for its claim. */
export function refersToClaim({ spec }: Volume): boolean {
  return (spec.claimRef?.uid ?? '') !== '';
}

/**
 * Whether the server has to be asked for the claim of a volume. The cache may not have it yet, if a scheduler or an external
 * provisioner bound the volume, and to reclaim a volume that is in use would destroy data.
 */
export function isClaimUncertain(volume: Volume, cached: Claim | undefined): boolean {
  if (!refersToClaim(volume)) return false;
  return cached === undefined ? !isReleased(volume) : cached.metadata.uid !== volume.spec.claimRef?.uid;
}

function isReleased({ status }: Volume): boolean {
  return status?.phase === 'Released' || status?.phase === 'Failed';
}

function planPrepared(volume: Volume, claim: Claim | undefined): Action[] {
  if (!refersToClaim(volume)) return planPhase(volume, 'Available');
  if (claim === undefined) return planReclaim(volume);
  const { name } = volume.metadata;
  const named = claim.spec.volumeName ?? '';
  if (named === '') return planUnfinished(volume, claim);
  if (named === name) return planPhase(volume, 'Bound');
  // The claim is bound elsewhere. A volume that was made for it is of no use to anybody else.
  const isMadeForIt = hasAnnotation(volume, provisionedBy) && volume.spec.persistentVolumeReclaimPolicy === 'Delete';
  return isMadeForIt ? planReclaim(volume) : planUnbind(volume);
}

/** The volume is bound, the claim is not yet. */
function planUnfinished(volume: Volume, claim: Claim): Action[] {
  if (modeOf(volume) === modeOf(claim)) return [{ kind: 'enqueue-claim' }];
  const [ofVolume, ofClaim] = [
    `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata.name}" due to incompatible volumeMode.`,
    `Cannot bind PersistentVolume "${volume.metadata.name}" to requested PersistentVolumeClaim due to incompatible volumeMode.`,
  ];
  return [
    { kind: 'record', about: 'volume', event: warning('VolumeMismatch', ofVolume) },
    { kind: 'record', about: 'claim', event: warning('VolumeMismatch', ofClaim) },
  ];
}

/** Without its claim, a volume is reclaimed by its policy. A failure stays visible while the attempts go on. */
function planReclaim(volume: Volume): Action[] {
  return [...(isReleased(volume) ? [] : planPhase(volume, 'Released')), ...reclaim(volume)];
}

function reclaim(volume: Volume): Action[] {
  if ((annotationOf(volume, migratedTo) ?? '') !== '') return []; // a CSI driver does
  switch (volume.spec.persistentVolumeReclaimPolicy) {
    case 'Retain':
      return [];
    case 'Recycle':
      return [{ kind: 'recycle' }];
    case 'Delete':
      return [{ kind: 'delete' }];
    default: {
      if (volume.status?.phase === 'Failed') return [];
      const message = 'Volume has unrecognized PersistentVolumeReclaimPolicy';
      return [{ kind: 'set-volume-phase', phase: 'Failed', event: warning('VolumeUnknownReclaimPolicy', message) }];
    }
  }
}

/** Whether a volume may be recycled or deleted now: its claim is gone, or bound to another volume. */
export function isReclaimable(volume: Volume, claim: Claim | undefined): boolean {
  if (!refersToClaim(volume)) return false;
  if (claim === undefined || claim.metadata.uid !== volume.spec.claimRef?.uid) return true;
  const named = claim.spec.volumeName ?? '';
  return named !== '' && named !== volume.metadata.name;
}
