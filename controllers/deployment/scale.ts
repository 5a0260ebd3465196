import type { Cached, Deployment } from '../../pkg/api/index.ts';
import { desiredReplicasAnnotation, maxReplicasAnnotation, readCount } from './history.ts';
import { availableOf, compareByAge, isScaledUp, nameOf, replicasOf, sum, type AnySet } from './replica-sets.ts';
import { desiredOf, fenceposts, isRollingUpdate, type Sizes } from './rolling.ts';

export interface ScalePlan {
  readonly sizes: Sizes;
  /** Also update the size annotations of ReplicaSets that keep their size: later proportions are computed from them. */
  readonly annotateAll: boolean;
}

const nothing: ScalePlan = { sizes: new Map(), annotateAll: false };

/** Whether the Deployment's size has changed since its ReplicaSets were last scaled. */
export function isScalingEvent(deployment: Cached<Deployment>, sets: readonly AnySet[]): boolean {
  return sets.filter(isScaledUp).some((set) => {
    const sizedFor = readCount(set, desiredReplicasAnnotation);
    return sizedFor !== undefined && sizedFor !== desiredOf(deployment);
  });
}

/**
 * The sizes of the ReplicaSets without further rollout. A single active ReplicaSet gets all replicas. Once the new one is
 * complete, the old ones get none. In the middle of a rollout, each gets replicas in proportion to its size.
 */
export function planScale(
  deployment: Cached<Deployment>,
  current: AnySet | undefined,
  oldSets: readonly AnySet[],
): ScalePlan {
  const sets = current === undefined ? [...oldSets] : [...oldSets, current];
  const active = sets.filter(isScaledUp);
  if (active.length <= 1) {
    const only = active[0] ?? current ?? [...oldSets].sort(compareByAge).at(-1);
    if (only === undefined || replicasOf(only) === desiredOf(deployment)) return nothing;
    return { sizes: new Map([[nameOf(only), desiredOf(deployment)]]), annotateAll: false };
  }
  if (current !== undefined && isSaturated(deployment, current)) {
    const old = oldSets.filter(isScaledUp).map((set) => [nameOf(set), 0] as const);
    return { sizes: new Map(old), annotateAll: false };
  }
  if (!isRollingUpdate(deployment)) return nothing;
  return { sizes: proportionalSizes(deployment, active), annotateAll: true };
}

function isSaturated(deployment: Cached<Deployment>, set: AnySet): boolean {
  const desired = desiredOf(deployment);
  const sizedFor = readCount(set, desiredReplicasAnnotation);
  return replicasOf(set) === desired && sizedFor === desired && availableOf(set) === desired;
}

/**
 * Distributes a change of size over the active ReplicaSets in proportion to their size, which keeps the risk of a partial
 * rollout the same. The rest from rounding goes to the largest one: the newest when scaling up, the oldest when down.
 */
function proportionalSizes(deployment: Cached<Deployment>, active: readonly AnySet[]): Sizes {
  const desired = desiredOf(deployment);
  const allowed = desired > 0 ? desired + fenceposts(deployment).maxSurge : 0;
  const toAdd = allowed - sum(active, replicasOf);
  const age = toAdd > 0 ? -1 : 1;
  const bySize = [...active].sort((a, b) => replicasOf(b) - replicasOf(a) || age * compareByAge(a, b));
  const sizes = new Map<string, number>();
  let added = 0;
  for (const set of bySize) {
    const share = toAdd === 0 ? 0 : shareOf(deployment, set, toAdd - added);
    sizes.set(nameOf(set), replicasOf(set) + share);
    added += share;
  }
  const [largest] = bySize;
  if (largest !== undefined && toAdd !== 0) {
    const size = sizes.get(nameOf(largest)) ?? 0;
    sizes.set(nameOf(largest), Math.max(0, size + toAdd - added));
  }
  return sizes;
}

/** The ReplicaSet's part of the replicas that are left to add or, if negative, to remove. */
function shareOf(deployment: Cached<Deployment>, set: AnySet, left: number): number {
  const desired = desiredOf(deployment);
  const size = replicasOf(set);
  if (left === 0) return 0;
  const limit = (share: number): number => (left > 0 ? Math.min(share, left) : Math.max(share, left));
  if (desired === 0) return limit(-size);
  const maxBefore = readCount(set, maxReplicasAnnotation) || (deployment.status?.replicas ?? 0);
  if (maxBefore === 0) return 0;
  const scaled = (size * (desired + fenceposts(deployment).maxSurge)) / maxBefore;
  return limit(roundHalfAwayFromZero(scaled) - size);
}

function roundHalfAwayFromZero(value: number): number {
  return Math.sign(value) * Math.round(Math.abs(value));
}
