import {
  keyOf,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Cached,
  type ObjectKey,
  type Pod,
  type StorageClass,
} from '../../pkg/api/index.ts';
import { decided, findLive, podsByClaim, type Reconcile } from '../../pkg/controller/index.ts';
import { isPodStopped } from '../../pkg/pods/index.ts';
import {
  bindCompleted,
  classOfClaim,
  hasAnnotation,
  isDelayed,
  keyOfReference,
  type Claim,
  type Volume,
} from '../../pkg/volumes/index.ts';
import { defineIndex, type Store } from '../../informers/index.ts';
import { applyActions } from './apply.ts';
import { isDefaultClass, selectDefaultClass } from './default-class.ts';
import { isUnnamed, isVolumeUncertain, planClaim, type ClaimOptions } from './plan-claim.ts';
import { isClaimUncertain, planVolume } from './plan-volume.ts';
import type { OperationDeps } from './start-operation.ts';

/** The default classes, under one value. */
export const defaultClasses = defineIndex<StorageClass>('default', (storageClass) =>
  isDefaultClass(storageClass) ? ['yes'] : [],
);

export interface SyncDeps extends OperationDeps {
  readonly classes: Pick<Store<StorageClass>, 'get' | 'byIndex'>;
  readonly options: ClaimOptions;
}

/** Binds a claim, or says why it cannot be bound yet. */
export function createClaimSync(deps: SyncDeps): Reconcile {
  const { client, claims, volumes, index, classes, pods, busy, times, options } = deps;

  /** The best volume for a claim. The index may be a little behind. */
  function findVolume(claim: Claim): Volume | undefined {
    const search = { isDelayed: isDelayed(classOf(claim)), isTaken: (key: ObjectKey) => busy.has(key) };
    for (;;) {
      const found = index.find(claim, search);
      const current = found && volumes.get(keyOf(found));
      if (found === undefined || current === found) return found;
      index.set(keyOf(found), current);
    }
  }

  const classOf = (claim: Claim): Cached<StorageClass> | undefined =>
    classes.get(objectKey(undefined, classOfClaim(claim)));

  async function apply(claim: Claim, volume: Volume | undefined, signal: AbortSignal): Promise<void> {
    const actions = decided(
      planClaim({
        claim,
        volume,
        storageClass: classOf(claim),
        defaultClass: selectDefaultClass(classes.byIndex(defaultClasses, 'yes')),
        waitingPods: namesOfWaiting(pods.byIndex(podsByClaim, keyOf(claim))),
        options,
      }),
    );
    const carryOut = (): Promise<void> => applyActions(actions, { claim, volume }, deps, signal);
    if (volume === undefined || actions.length === 0) await carryOut();
    else await busy.during(keyOf(volume), carryOut);
  }

  /** A claim that names no volume and was never bound. */
  async function search(claim: Claim, signal: AbortSignal): Promise<void> {
    const volume = findVolume(claim);
    try {
      await apply(claim, volume, signal);
      if (volume !== undefined) times.succeeded(keyOf(claim));
    } catch (error) {
      if (volume !== undefined && !signal.aborted) times.failed(keyOf(claim));
      throw error;
    }
  }

  return async (key, signal) => {
    const claim = claims.get(key);
    if (claim === undefined) return {};
    if (isUnnamed(claim) && !hasAnnotation(claim, bindCompleted)) {
      await search(claim, signal);
      return {};
    }
    const volumeKey = objectKey(undefined, claim.spec.volumeName ?? '');
    let volume = volumes.get(volumeKey);
    if (isVolumeUncertain(claim, volume)) {
      volume = await findLive(client, PersistentVolumes, volumeKey, signal);
      if (claims.get(key) !== claim) return {}; // the event of the change brings the claim here again
    }
    await apply(claim, volume, signal);
    return {};
  };
}

function namesOfWaiting(pods: readonly Cached<Pod>[]): string[] {
  return pods
    .filter((pod) => !isPodStopped(pod) && (pod.spec.nodeName ?? '') === '')
    .map(({ metadata }) => metadata.name);
}

/** Gives a volume the phase that its claim leaves it, and reclaims it when its claim is gone. */
export function createVolumeSync(deps: SyncDeps): Reconcile {
  const { client, claims, volumes, busy } = deps;

  return async (key, signal) => {
    const volume = volumes.get(key);
    if (volume === undefined || busy.defer(key)) return {};
    const { claimRef } = volume.spec;
    let claim: Claim | undefined = claimRef && claims.get(keyOfReference(claimRef));
    if (claimRef !== undefined && isClaimUncertain(volume, claim)) {
      claim = await findLive(client, PersistentVolumeClaims, keyOfReference(claimRef), signal);
      if (volumes.get(key) !== volume) return {}; // the event of the change brings the volume here again
    }
    if (claim?.metadata.uid !== claimRef?.uid) claim = undefined;
    await applyActions(decided(planVolume(volume, claim)), { volume, claim }, deps, signal);
    return {};
  };
}
