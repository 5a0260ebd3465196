import { scaledValue, type Cached, type Deployment } from '../../pkg/api/index.ts';
import { availableOf, compareByAge, isScaledUp, nameOf, replicasOf, sum, type AnySet } from './replica-sets.ts';

/** The sizes that sets should get, by name; a set that is not listed keeps its size. */
export type Sizes = ReadonlyMap<string, number>;

export function desiredOf(deployment: Cached<Deployment>): number {
  return deployment.spec.replicas ?? 1;
}

export function isRollingUpdate(deployment: Cached<Deployment>): boolean {
  return deployment.spec.strategy?.type === 'RollingUpdate';
}

/**
 * How many pods may be missing and how many may be too many during a rollout. Percentages favour availability: surge
 * rounds up, unavailability down. Both at zero would forbid every step, so one pod may then be missing.
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

/** The size of the new set: what fits under the surge beside the pods of all sets. */
export function nextNewSize(deployment: Cached<Deployment>, current: AnySet, sets: readonly AnySet[]): number {
  const desired = desiredOf(deployment);
  const size = replicasOf(current);
  if (size >= desired) return desired;
  const room = Math.max(0, desired + fenceposts(deployment).maxSurge - sum(sets, replicasOf));
  return Math.min(desired, size + room);
}

/**
 * The sizes of the old sets: first those pods go that do not work anyway, then working ones, oldest set first, as many
 * as availability allows. Example: 10 desired, 2 may be missing, 13 pods in all, of the new set's 5 pods 1 is not yet
 * available: 13 - 8 - 1 = 4 old pods may go, working ones only while more than 8 are available.
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

/** Of a set that was just made smaller the status still counts pods that are about to go: those hold nothing up. */
function lastingOf(set: AnySet): number {
  return Math.min(availableOf(set), replicasOf(set));
}
