import { isBeingDeleted, keyOf, type Cached, type ObjectKey, type ResourceClaim } from '../../pkg/api/index.ts';
import { claimFinalizer } from './claim-plan.ts';

/** A scheduler protects a claim right before it allocates it. A finalizer without allocation for this long is a leftover. */
const leftOverMs = 5000;

interface Seen {
  readonly resourceVersion: string;
  readonly sinceMs: number;
}

/**
 * Claims whose finalizer stayed when they were deallocated: the process or the write that should have removed it failed.
 * Nothing in such a claim tells it from one that is about to be allocated, but time does.
 */
export class Leftovers {
  readonly #seen = new Map<ObjectKey, Seen>();

  /** For how long the claim has to stay as it is to count as a leftover; undefined if it is none. */
  waitMs(claim: Cached<ResourceClaim>, nowMs: number): number | undefined {
    const key = keyOf(claim);
    const { finalizers = [], resourceVersion } = claim.metadata;
    const { allocation, reservedFor = [] } = claim.status ?? {};
    const isUnused = allocation === undefined && reservedFor.length === 0;
    if (!finalizers.includes(claimFinalizer) || !isUnused || isBeingDeleted(claim.metadata)) {
      this.#seen.delete(key);
      return undefined;
    }
    const known = this.#seen.get(key);
    const seen = known?.resourceVersion === resourceVersion ? known : { resourceVersion, sinceMs: nowMs };
    this.#seen.set(key, seen);
    return Math.max(0, seen.sinceMs + leftOverMs - nowMs);
  }

  forget(key: ObjectKey): void {
    this.#seen.delete(key);
  }
}
