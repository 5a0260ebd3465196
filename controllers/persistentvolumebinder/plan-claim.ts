import {
  bindCompleted,
  boundByController,
  migrateClaimAnnotations,
  selectedNode,
  classOfClaim,
  hasAnnotation,
  isDelayed,
  isReservedFor,
  keyOfReference,
  mismatchOf,
  namedClassOf,
  type Claim,
  type Class,
  type MatchOptions,
  type Volume,
} from '../../pkg/volumes/index.ts';
import { normal, warning, type Action } from './actions.ts';
import { planBind } from './binding.ts';
import { unboundStatus } from './claim-status.ts';
import { provisionerOf } from './plugins.ts';

export interface ClaimSnapshot {
  readonly claim: Claim;
  /** The volume that the claim names. For a claim that names none: the best one for it. */
  readonly volume: Volume | undefined;
  /** The class that the claim names. */
  readonly storageClass: Class | undefined;
  /** The default class of the cluster. */
  readonly defaultClass: string | undefined;
  /** The names of pods that use the claim and have no node yet. */
  readonly waitingPods: readonly string[];
  readonly options: ClaimOptions;
}

export interface ClaimOptions extends MatchOptions {
  readonly isProvisioningEnabled: boolean;
}

/** What becomes of a claim. Every state that a crash or a user can leave leads on to a binding, or to a phase that says why not. */
export function planClaim(snapshot: ClaimSnapshot): Action[] {
  const { claim } = snapshot;
  const annotations = migrateClaimAnnotations(claim.metadata.annotations);
  if (annotations === undefined) return planMigrated(snapshot);
  // Later edits start from these annotations, or they would be lost.
  const migrated = { ...claim, metadata: { ...claim.metadata, annotations } };
  return [{ kind: 'edit-claim', edit: { annotations } }, ...planMigrated({ ...snapshot, claim: migrated })];
}

function planMigrated(snapshot: ClaimSnapshot): Action[] {
  const { claim } = snapshot;
  if (hasAnnotation(claim, bindCompleted)) return planBoundClaim(snapshot);
  return isUnnamed(claim) ? planUnboundClaim(snapshot) : planRequestedVolume(snapshot);
}

/**
 * Whether the server has to be asked for the volume of a claim before its data is called lost. The cache of volumes may be
 * behind that of claims.
 */
export function isVolumeUncertain(claim: Claim, cached: Volume | undefined): boolean {
  if (isUnnamed(claim) || !hasAnnotation(claim, bindCompleted) || claim.status?.phase === 'Lost') return false;
  if (cached === undefined) return true;
  const { claimRef } = cached.spec;
  return claimRef !== undefined && claimRef.uid !== claim.metadata.uid;
}

export function isUnnamed({ spec }: Claim): boolean {
  return (spec.volumeName ?? '') === '';
}

/** A claim that was bound before: its data may be lost, but it is never bound to another volume. */
function planBoundClaim({ claim, volume, options }: ClaimSnapshot): Action[] {
  if (isUnnamed(claim)) {
    return planLost(
      claim,
      'ClaimLost',
      'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
    );
  }
  if (volume === undefined) {
    return planLost(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
  }
  const { claimRef } = volume.spec;
  if (claimRef !== undefined && claimRef.uid !== claim.metadata.uid) {
    const message = 'Two claims are bound to the same volume, this one is bound incorrectly';
    return planLost(claim, 'ClaimMisbound', message);
  }
  return planBind(volume, claim, options);
}

/** A claim that names no volume. */
function planUnboundClaim(snapshot: ClaimSnapshot): Action[] {
  const { claim, volume, storageClass, defaultClass, options } = snapshot;
  if (volume !== undefined) return planBind(volume, claim, options);
  if (namedClassOf(claim) === undefined && defaultClass !== undefined) {
    return [{ kind: 'assign-class', className: defaultClass }]; // the event of this write brings the claim here again
  }
  if (isDelayed(storageClass) && !hasAnnotation(claim, selectedNode)) {
    return [{ kind: 'record', about: 'claim', event: waitingEvent(snapshot.waitingPods) }, ...planPending(claim)];
  }
  if (classOfClaim(claim) !== '') return planProvision(snapshot);
  const message = 'no persistent volumes available for this claim and no storage class is set';
  return [{ kind: 'record', about: 'claim', event: normal('FailedBinding', message) }, ...planPending(claim)];
}

function waitingEvent(pods: readonly string[]): ReturnType<typeof normal> {
  if (pods.length === 0) {
    return normal('WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
  }
  const named = pods.length === 1 ? `pod ${pods[0]}` : `pods ${pods.join(',')}`;
  return normal('WaitForPodScheduled', `waiting for ${named} to be scheduled`);
}

function planProvision({ claim, storageClass, options }: ClaimSnapshot): Action[] {
  if (!options.isProvisioningEnabled) return [];
  const fail = (problem: string): Action[] => [
    { kind: 'record', about: 'claim', event: warning('ProvisioningFailed', problem) },
  ];
  if (storageClass === undefined) return fail(`storageclass.storage.k8s.io "${classOfClaim(claim)}" not found`);
  const provisioner = provisionerOf(storageClass);
  return provisioner.kind === 'none' ? fail(provisioner.problem) : [{ kind: 'provision', storageClass, provisioner }];
}

/** A claim that names its volume, by its user or by a sync that did not finish. */
function planRequestedVolume({ claim, volume, options }: ClaimSnapshot): Action[] {
  if (volume === undefined) return planPending(claim);
  const { name } = volume.metadata;
  const { claimRef } = volume.spec;
  if (claimRef === undefined) {
    const mismatch = mismatchOf(volume, claim, options);
    if (mismatch === undefined) return planBind(volume, claim, options);
    const event = warning('VolumeMismatch', `Cannot bind to requested volume "${name}": ${mismatch}`);
    return [{ kind: 'record', about: 'claim', event }, ...planPending(claim)];
  }
  if (isReservedFor(volume, claim)) return planBind(volume, claim, options);
  const event = warning('FailedBinding', `volume "${name}" already bound to a different claim.`);
  const record: Action = { kind: 'record', about: 'claim', event };
  if (!hasAnnotation(claim, boundByController)) return [record, ...planPending(claim)];
  const key = `${claim.metadata.namespace}/${claim.metadata.name}`;
  const owner = keyOfReference(claimRef);
  const message = `invalid binding of claim "${key}" to volume "${name}": volume already claimed by "${owner}"`;
  return [record, { kind: 'fail', message }];
}

function planPending(claim: Claim): Action[] {
  const status = unboundStatus(claim, 'Pending');
  return status === undefined ? [] : [{ kind: 'set-claim-status', status }];
}

/** Final: written and reported once. */
function planLost(claim: Claim, reason: string, message: string): Action[] {
  const status = claim.status?.phase === 'Lost' ? undefined : unboundStatus(claim, 'Lost');
  return status === undefined ? [] : [{ kind: 'set-claim-status', status, event: warning(reason, message) }];
}
