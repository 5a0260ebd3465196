import { isBeingDeleted, scaledValue, type Cached, type Pod, type StatefulSet } from '../../pkg/api/index.ts';
import { revisionOf, type Versions } from './identity.ts';
import { replicasOf } from './ordinals.ts';
import { isUnavailable, type Arrangement, type Availability } from './replicas.ts';

export interface RollingInput extends Availability {
  readonly set: Cached<StatefulSet>;
  readonly arrangement: Arrangement;
  readonly versions: Versions;
  /** Undefined unless the gate is on. */
  readonly maxUnavailable: number | undefined;
}

/** How many pods may be unavailable during a rolling update: at least one. Throws an `IntOrStringError`. */
export function maxUnavailableOf(set: Cached<StatefulSet>): number {
  const wanted = set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  return Math.max(1, scaledValue(wanted, replicasOf(set), 'down'));
}

/**
 * The pods to delete because they are not at the update revision, the highest ordinal first and none below the
 * partition. Without `maxUnavailable`, one pod at a time, and only after all pods above it are available. Not for OnDelete.
 */
export function selectOutdated(input: RollingInput): readonly Cached<Pod>[] {
  const { set, arrangement, versions, maxUnavailable } = input;
  const { rollingUpdate } = set.spec.updateStrategy ?? {};
  const above = arrangement.replicas.slice(rollingUpdate?.partition ?? 0).toReversed();
  const isOutdated = (pod: Cached<Pod>): boolean =>
    revisionOf(pod) !== versions.update.name && !isBeingDeleted(pod.metadata);
  if (maxUnavailable !== undefined) {
    const pods = above.map(({ pod }) => pod).filter((pod) => pod !== undefined);
    return pods.filter(isOutdated).slice(0, Math.max(0, maxUnavailable - countUnavailable(input)));
  }
  for (const { pod } of above) {
    if (pod !== undefined && isOutdated(pod)) return [pod];
    if (isUnavailable(pod, input)) return [];
  }
  return [];
}

/** How many pods of the set are missing or unavailable. */
export function countUnavailable(input: Pick<RollingInput, 'arrangement'> & Availability): number {
  const { replicas, missing } = input.arrangement;
  return missing + replicas.filter(({ pod }) => pod !== undefined && isUnavailable(pod, input)).length;
}
