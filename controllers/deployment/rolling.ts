import { scaledValue, type Cached, type Deployment } from '../../pkg/api/index.ts';
import { availableOf, compareByAge, isScaledUp, nameOf, replicasOf, sum, type AnySet } from './replica-sets.ts';

/** The new sizes of ReplicaSets, by name. A ReplicaSet that is not listed keeps its size. */
export type Sizes = ReadonlyMap<string, number>;

export function desiredOf(deployment: Cached<Deployment>): number {
  return deployment.spec.replicas ?? 1;
}

export function isRollingUpdate(deployment: Cached<Deployment>): boolean {
  return deployment.spec.strategy?.type === 'RollingUpdate';
}

/**
 * `maxSurge` and `maxUnavailable` in pods. Percentages of surge round up, those of unavailability down. If both are 0, no
 * step would be possible, so one pod may be unavailable.
 */
export function fenceposts(deployment: Cached<Deployment>): {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
} {
  if (!isRollingUpdate(deployment)) return { maxSurge: 0, maxUnavailable: 0 };
  const desired = desiredOf(deployment);
  const rolling = deployment.spec.strategy?.rollingUpdate;
  const maxSurge = scaledValue(rolling?.maxSurge ?? 0, desired, 'up');
  const unavailable = scaledValue(rolling?.maxUnavailable ?? 0, desired, 'down');
  const maxUnavailable = maxSurge === 0 && unavailable === 0 ? 1 : unavailable;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, desired) };
}

/** The size of the new ReplicaSet: as large as `maxSurge` allows with the pods of all ReplicaSets. */
export function nextNewSize(deployment: Cached<Deployment>, current: AnySet, sets: readonly AnySet[]): number {
  const desired = desiredOf(deployment);
  const size = replicasOf(current);
  if (size >= desired) return desired;
  const room = Math.max(0, desired + fenceposts(deployment).maxSurge - sum(sets, replicasOf));
  return Math.min(desired, size + room);
}

/**
 * The sizes of the old ReplicaSets. Unavailable pods are removed first, then available ones from the oldest ReplicaSet,
 * as far as `maxUnavailable` allows. Example: 10 desired, maxUnavailable 2, 13 pods in total, 1 of the 5 new pods not
 * available: 13 - 8 - 1 = 4 old pods may be removed, available ones only while more than 8 are available.
 */
export function nextOldSizes(deployment: Cached<Deployment>, current: AnySet, oldSets: readonly AnySet[]): Sizes {
  const active = oldSets.filter(isScaledUp).sort(compareByAge);
  const minAvailable = desiredOf(deployment) - fenceposts(deployment).maxUnavailable;
  const startingPods = replicasOf(current) - lastingOf(current);
  const totalPods = sum(active, replicasOf) + replicasOf(current);
  const removable = totalPods - minAvailable - startingPods;
  const sizes = new Map<string, number>();
  if (active.length === 0 || removable <= 0) return sizes;

  let unhealthyLeft = removable;
  for (const set of active) {
    const unhealthy = Math.min(replicasOf(set) - lastingOf(set), unhealthyLeft);
    if (unhealthy <= 0) continue;
    sizes.set(nameOf(set), replicasOf(set) - unhealthy);
    unhealthyLeft -= unhealthy;
  }

  let healthyLeft = sum([...active, current], lastingOf) - minAvailable;
  for (const set of active) {
    const size = sizes.get(nameOf(set)) ?? replicasOf(set);
    const surplus = Math.min(size, healthyLeft);
    if (surplus <= 0) continue;
    sizes.set(nameOf(set), size - surplus);
    healthyLeft -= surplus;
  }
  return sizes;
}

/** The status of a ReplicaSet that was just scaled down may still count pods that it deletes: those do not count. */
function lastingOf(set: AnySet): number {
  return Math.min(availableOf(set), replicasOf(set));
}
