import { isBeingDeleted, type Cached, type ObjectMeta } from '../../pkg/api/index.ts';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** How far the deletion of an object has come: `deleting` waits for finalizers of others, or for its grace to end. */
export type DeletionPhase = 'none' | 'deleting' | 'deletingDependents' | 'orphaningDependents';

export type DeletionState = Cached<Pick<ObjectMeta, 'deletionTimestamp' | 'finalizers'>>;

export function deletionPhase(state: DeletionState): DeletionPhase {
  if (!isBeingDeleted(state)) return 'none';
  const finalizers = state.finalizers ?? [];
  // With both, dependents are let go first: what has been let go can still be deleted, but not the other way round.
  if (finalizers.includes(orphanFinalizer)) return 'orphaningDependents';
  return finalizers.includes(foregroundFinalizer) ? 'deletingDependents' : 'deleting';
}

/** What a reference to an owner is worth, by what the server says of the owner. */
export type OwnerState =
  /** The owner is there, and its dependents stay. */
  | 'solid'
  /** There is no such owner. */
  | 'dangling'
  /** The owner is there, but its deletion waits for that of its dependents. */
  | 'waiting';

export function ownerState(owner: DeletionState | undefined): OwnerState {
  if (owner === undefined) return 'dangling';
  return deletionPhase(owner) === 'deletingDependents' ? 'waiting' : 'solid';
}

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

export type Action =
  | { readonly type: 'none' }
  | { readonly type: 'removeFinalizer'; readonly finalizer: string }
  /** Others have to go first. */
  | { readonly type: 'attempt'; readonly uids: readonly string[] }
  /** The object stays, without these owners. */
  | { readonly type: 'removeOwners'; readonly uids: readonly string[] }
  | {
      readonly type: 'delete';
      readonly policy: PropagationPolicy;
      /** Let it block none of its owners before: it stands in a circle of objects that wait for each other. */
      readonly unblockOwners: boolean;
    };

export interface OwnedObject {
  /** Of the live object. */
  readonly finalizers: readonly string[];
  readonly owners: readonly { readonly uid: string; readonly state: OwnerState }[];
  /** Phases of the object's own dependents. */
  readonly dependents: readonly DeletionPhase[];
}

/** What becomes of an object that is not being deleted. Whoever has no owners at all is nobody's to delete. */
export function planForOwned({ finalizers, owners, dependents }: OwnedObject): Action {
  if (owners.length === 0) return { type: 'none' };
  const lost = owners.filter(({ state }) => state !== 'solid');
  if (lost.length < owners.length) {
    // Owners that wait for their dependents are given up too: as long as this one refers to them, they wait for it.
    const uids = [...new Set(lost.map(({ uid }) => uid))];
    return uids.length === 0 ? { type: 'none' } : { type: 'removeOwners', uids };
  }
  if (owners.some(({ state }) => state === 'waiting') && dependents.length > 0) {
    const unblockOwners = dependents.includes('deletingDependents');
    return { type: 'delete', policy: 'Foreground', unblockOwners };
  }
  return { type: 'delete', policy: policyOf(finalizers), unblockOwners: false };
}

/** A finalizer that is already there says how its dependents are to be treated. */
function policyOf(finalizers: readonly string[]): PropagationPolicy {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}

/** What to do for an object whose deletion waits for that of its dependents. */
export function planForWaiting(blocking: readonly { readonly uid: string; readonly phase: DeletionPhase }[]): Action {
  if (blocking.length === 0) return { type: 'removeFinalizer', finalizer: foregroundFinalizer };
  const uids = blocking.filter(({ phase }) => phase !== 'deletingDependents').map(({ uid }) => uid);
  return uids.length === 0 ? { type: 'none' } : { type: 'attempt', uids };
}
