import type { Cached, ReplicaSet } from '../../pkg/api/index.ts';
import { isScaledUp, nameOf, sum } from './replica-sets.ts';
import type { Sizes } from './rolling.ts';

/** Recreate scales every old ReplicaSet to zero first. */
export function sizesToRetire(oldSets: readonly Cached<ReplicaSet>[]): Sizes {
  return new Map(oldSets.filter(isScaledUp).map((set) => [nameOf(set), 0]));
}

/**
 * Whether an old pod may still be running. Recreate guarantees that old and new pods never run at the same time, so
 * terminating pods and pods of phase Unknown count until they are gone.
 */
export function isOldPodRunning(
  oldSets: readonly Cached<ReplicaSet>[],
  setsWithUnfinishedPods: ReadonlySet<string>,
): boolean {
  if (sum(oldSets, (set) => set.status?.replicas ?? 0) > 0) return true;
  return oldSets.some(({ metadata }) => setsWithUnfinishedPods.has(metadata.uid));
}
