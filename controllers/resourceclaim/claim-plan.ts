import {
  controllerOf,
  isBeingDeleted,
  type Cached,
  type ResourceClaim,
  type ResourceClaimConsumer,
} from '../../pkg/api/index.ts';

/** The scheduler sets it on the claims that it allocates. */
export const claimFinalizer = 'resource.kubernetes.io/delete-protection';

export interface ClaimSnapshot {
  readonly claim: Cached<ResourceClaim>;
  isGone(consumer: Cached<ResourceClaimConsumer>): boolean;
  /** The claim was made for a pod that is in the cache, and that needs it no longer. */
  readonly isOwnerDone: boolean;
  /** Its finalizer has stayed after it was deallocated. */
  readonly isLeftOver: boolean;
}

/** What is to be done for a claim, in this order. */
export interface ClaimPlan {
  readonly status?: { readonly reservedFor: readonly Cached<ResourceClaimConsumer>[]; readonly deallocates: boolean };
  readonly removesFinalizer: boolean;
  readonly deletes: boolean;
}

/**
 * A claim is deallocated when its last consumer ends, so that the next one can be placed elsewhere. A claim that was
 * never reserved stays allocated: its driver need not reserve it when it allocates it. Other consumers than pods and
 * groups are kept.
 */
export function planClaim({ claim, isGone, isOwnerDone, isLeftOver }: ClaimSnapshot): ClaimPlan {
  const reservedFor = claim.status?.reservedFor ?? [];
  const remaining = reservedFor.filter((consumer) => !isGone(consumer));
  const isUnused = remaining.length === 0;
  const isProtected = (claim.metadata.finalizers ?? []).includes(claimFinalizer);
  const isReleased = remaining.length < reservedFor.length;
  const isAllocated = claim.status?.allocation !== undefined;
  const deletes = isUnused && isOwnerDone && !isBeingDeleted(claim.metadata);
  const status = { reservedFor: remaining, deallocates: isUnused && isProtected };
  if (isReleased) return { status, removesFinalizer: isUnused && isProtected, deletes };
  const isFreed = isUnused && isProtected && isBeingDeleted(claim.metadata);
  return { ...(isFreed && isAllocated && { status }), removesFinalizer: isFreed || isLeftOver, deletes };
}

/** The pod that a claim was made for. */
export function owningPodOf(claim: Cached<ResourceClaim>): { readonly name: string; readonly uid: string } | undefined {
  const controller = controllerOf(claim);
  return controller?.apiVersion === 'v1' && controller.kind === 'Pod' ? controller : undefined;
}
