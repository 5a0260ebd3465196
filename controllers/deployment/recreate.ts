import type { Cached, ReplicaSet } from '../../pkg/api/index.ts';
import { isScaledUp, nameOf, sum } from './replica-sets.ts';
import type { Sizes } from './rolling.ts';

/** Everything old goes first. */
export function sizesToRetire(oldSets: readonly Cached<ReplicaSet>[]): Sizes {
  return new Map(oldSets.filter(isScaledUp).map((set) => [nameOf(set), 0]));
}

/**
 * Whether an old pod may still be running: Recreate promises that old and new never run side by side, so pods that are
 * going, or of which nobody knows, count until they are gone.
 */
export function isOldPodRunning(
  oldSets: readonly Cached<ReplicaSet>[],
  hasUnfinishedPods: (set: Cached<ReplicaSet>) => boolean,
): boolean {
  return sum(oldSets, (set) => set.status?.replicas ?? 0) > 0 || oldSets.some(hasUnfinishedPods);
}
