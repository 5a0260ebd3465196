import { isBeingDeleted, type Cached, type ObjectMeta } from '../../pkg/api/index.ts';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** The phase of an object's deletion. `deleting`: it waits for other finalizers or for its grace period. */
export type DeletionPhase = 'none' | 'deleting' | 'deletingDependents' | 'orphaningDependents';

export type DeletionState = Cached<Pick<ObjectMeta, 'deletionTimestamp' | 'finalizers'>>;

export function deletionPhase(state: DeletionState): DeletionPhase {
  if (!isBeingDeleted(state)) return 'none';
  const finalizers = state.finalizers ?? [];
  // With both finalizers, orphaning comes first: orphans can still be deleted, but deleted objects cannot be orphaned.
  if (finalizers.includes(orphanFinalizer)) return 'orphaningDependents';
  return finalizers.includes(foregroundFinalizer) ? 'deletingDependents' : 'deleting';
}

/** The state of an owner reference, from the live owner. */
export type OwnerState =
  /** The owner exists, and its dependents stay. */
  | 'solid'
  /** The owner does not exist. */
  | 'dangling'
  /** The owner exists, but its deletion waits for the deletion of its dependents. */
  | 'waiting';

export function ownerState(owner: DeletionState | undefined): OwnerState {
  if (owner === undefined) return 'dangling';
  return deletionPhase(owner) === 'deletingDependents' ? 'waiting' : 'solid';
}

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

export type Action =
  | { readonly type: 'none' }
  | { readonly type: 'removeFinalizer'; readonly finalizer: string }
  /** These objects must be deleted first. */
  | { readonly type: 'attempt'; readonly uids: readonly string[] }
  /** The object stays without these owners. */
  | { readonly type: 'removeOwners'; readonly uids: readonly string[] }
  | {
      readonly type: 'delete';
      readonly policy: PropagationPolicy;
      /** Set `blockOwnerDeletion` to false first: the object is part of a cycle of objects that wait for each other. */
      readonly unblockOwners: boolean;
    };

export interface OwnedObject {
  /** The finalizers of the live object. */
  readonly finalizers: readonly string[];
  readonly owners: readonly { readonly uid: string; readonly state: OwnerState }[];
  /** The phases of the object's dependents. */
  readonly dependents: readonly DeletionPhase[];
}

/** Decides on an object that is not being deleted. An object without owner references is never collected. */
export function planForOwned({ finalizers, owners, dependents }: OwnedObject): Action {
  if (owners.length === 0) return { type: 'none' };
  const lost = owners.filter(({ state }) => state !== 'solid');
  if (lost.length < owners.length) {
    // Remove waiting owners too: they wait for this object as long as it refers to them.
    const uids = [...new Set(lost.map(({ uid }) => uid))];
    return uids.length === 0 ? { type: 'none' } : { type: 'removeOwners', uids };
  }
  if (owners.some(({ state }) => state === 'waiting') && dependents.length > 0) {
    const unblockOwners = dependents.includes('deletingDependents');
    return { type: 'delete', policy: 'Foreground', unblockOwners };
  }
  return { type: 'delete', policy: policyOf(finalizers), unblockOwners: false };
}

/** An existing finalizer determines the propagation policy. */
function policyOf(finalizers: readonly string[]): PropagationPolicy {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}

/** Decides on an object whose deletion waits for the deletion of its dependents. */
export function planForWaiting(blocking: readonly { readonly uid: string; readonly phase: DeletionPhase }[]): Action {
  if (blocking.length === 0) return { type: 'removeFinalizer', finalizer: foregroundFinalizer };
  const uids = blocking.filter(({ phase }) => phase !== 'deletingDependents').map(({ uid }) => uid);
  return uids.length === 0 ? { type: 'none' } : { type: 'attempt', uids };
}
