import { isBeingDeleted, type Cached, type Pod, type StatefulSet } from '../../pkg/api/index.ts';
import { isPodAvailable, isPodReady } from '../../pkg/pods/index.ts';
import { isInRange, ordinalOf, replicasOf, startOrdinal } from './ordinals.ts';

/** An ordinal of the set, with its pod. */
export interface Replica {
  readonly ordinal: number;
  readonly pod: Cached<Pod> | undefined;
}

export interface Condemned {
  readonly ordinal: number;
  readonly pod: Cached<Pod>;
}

/**
 * The limit of missing pods that one sync plans for: as many as the Go binary creates at once. Replicas may be any
 * int32: a list of all would not fit into memory.
 */
const maxMissing = 500;

export interface Arrangement {
  /** One for each ordinal that the set should have, ascending, up to the last missing pod that this sync plans for. */
  readonly replicas: readonly Replica[];
  /** The number of missing pods. */
  readonly missing: number;
  /** Pods with other ordinals, the highest first: the order in which they are deleted. */
  readonly condemned: readonly Condemned[];
}

/** Assigns each pod to its ordinal. Pods without an ordinal are ignored. */
export function arrangePods(set: Cached<StatefulSet>, pods: readonly Cached<Pod>[]): Arrangement {
  const placed = new Map<number, Cached<Pod>>();
  const condemned: Condemned[] = [];
  for (const pod of pods) {
    const ordinal = ordinalOf(pod);
    if (ordinal === undefined) continue;
    if (isInRange(set, ordinal)) placed.set(ordinal, pod);
    else condemned.push({ ordinal, pod });
  }
  const replicas: Replica[] = [];
  const end = startOrdinal(set) + replicasOf(set);
  for (let ordinal = startOrdinal(set), missing = 0; ordinal < end && missing < maxMissing; ordinal++) {
    const pod = placed.get(ordinal);
    replicas.push({ ordinal, pod });
    if (pod === undefined) missing++;
  }
  condemned.sort((a, b) => b.ordinal - a.ordinal);
  return { replicas, missing: replicasOf(set) - placed.size, condemned };
}

/** When a pod is available. */
export interface Availability {
  readonly minReadySeconds: number;
  readonly nowMs: number;
}

export function isRunningAndReady(pod: Cached<Pod>): boolean {
  return pod.status?.phase === 'Running' && isPodReady(pod);
}

export function isAvailable(pod: Cached<Pod>, { minReadySeconds, nowMs }: Availability): boolean {
  return isPodAvailable(pod, minReadySeconds, nowMs);
}

/** Missing and terminating pods are unavailable too. */
export function isUnavailable(pod: Cached<Pod> | undefined, availability: Availability): boolean {
  return pod === undefined || isBeingDeleted(pod.metadata) || !isAvailable(pod, availability);
}
