import { parseTime, ownValue, type Cached, type Pod } from '../api/index.ts';
import { isPodReady, readySinceMs } from './phases.ts';

export interface DeletionRanking {
  /** The number of related pods on the pod's node. Pods on crowded nodes are deleted first. */
  readonly crowding: (pod: Cached<Pod>) => number;
  /** Undefined: ages are compared exactly instead of by order of magnitude. */
  readonly nowMs: number | undefined;
  readonly honourDeletionCost: boolean;
}

/**
 * Sorts pods in the order in which a scale-down deletes them: not assigned to a node, not running, not ready, low
 * deletion cost, on a crowded node, ready for a short time, many restarts, young. Ages within the same power of two
 * count as equal and are ordered by uid, so that scale-downs keep pods of mixed age.
 */
export function rankForDeletion(pods: readonly Cached<Pod>[], ranking: DeletionRanking): Cached<Pod>[] {
  const ranked = pods.map((pod) => ({ pod, traits: traitsOf(pod, ranking) }));
  ranked.sort((a, b) => compareTraits(a.traits, b.traits));
  return ranked.map(({ pod }) => pod);
}

interface Traits {
  readonly uid: string;
  /** Compared in order. The pod with the smaller number is deleted first. */
  readonly beforeAge: readonly number[];
  readonly readyAge: Age | undefined;
  readonly restarts: readonly number[];
  readonly age: Age;
}

interface Age {
  readonly sinceMs: number;
  /** Order of magnitude; undefined if ages are compared exactly. */
  readonly magnitude: number | undefined;
}

function traitsOf(pod: Cached<Pod>, { crowding, nowMs, honourDeletionCost }: DeletionRanking): Traits {
  const ready = isPodReady(pod);
  const readySince = readySinceMs(pod);
  return {
    uid: pod.metadata.uid,
    beforeAge: [
      pod.spec.nodeName === undefined || pod.spec.nodeName === '' ? 0 : 1,
      ownValue(phaseOrder, pod.status?.phase ?? '') ?? 0,
      ready ? 1 : 0,
      honourDeletionCost ? deletionCostOf(pod) : 0,
      -crowding(pod),
    ],
    readyAge: ready ? ageOf(readySince, nowMs) : undefined,
    restarts: maxRestarts(pod).map((count) => -count),
    age: ageOf(parseTime(pod.metadata.creationTimestamp), nowMs),
  };
}

const phaseOrder: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';

/** An annotation that is not a decimal int32 counts as 0. The API server rejects such annotations on new pods. */
function deletionCostOf(pod: Cached<Pod>): number {
  const text = pod.metadata.annotations?.[deletionCostAnnotation];
  if (text === undefined || !/^(0|-?[1-9]\d*)$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}

/** The most restarts of any container, and of any sidecar. */
function maxRestarts(pod: Cached<Pod>): readonly [number, number] {
  const sidecars = new Set<string>();
  for (const container of pod.spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') sidecars.add(container.name);
  }
  let regular = 0;
  for (const status of pod.status?.containerStatuses ?? []) regular = Math.max(regular, status.restartCount);
  let sidecar = 0;
  for (const status of pod.status?.initContainerStatuses ?? []) {
    if (sidecars.has(status.name)) sidecar = Math.max(sidecar, status.restartCount);
  }
  return [regular, sidecar];
}

function ageOf(sinceMs: number | undefined, nowMs: number | undefined): Age {
  // A pod without a time counts as younger than all others.
  if (sinceMs === undefined) return { sinceMs: Infinity, magnitude: undefined };
  if (nowMs === undefined) return { sinceMs, magnitude: undefined };
  const ageNs = (nowMs - sinceMs) * 1e6;
  return { sinceMs, magnitude: ageNs > 0 ? Math.floor(Math.log2(ageNs)) : -1 };
}

function compareTraits(a: Traits, b: Traits): number {
  return (
    compareNumbers(a.beforeAge, b.beforeAge) ||
    (a.readyAge !== undefined && b.readyAge !== undefined ? compareAges(a.readyAge, b.readyAge, a.uid, b.uid) : 0) ||
    compareNumbers(a.restarts, b.restarts) ||
    compareAges(a.age, b.age, a.uid, b.uid)
  );
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareAges(a: Age, b: Age, uidA: string, uidB: string): number {
  if (a.sinceMs === b.sinceMs) return 0;
  if (a.magnitude === undefined || b.magnitude === undefined) return b.sinceMs > a.sinceMs ? 1 : -1;
  if (a.magnitude !== b.magnitude) return a.magnitude - b.magnitude;
  return uidA < uidB ? -1 : 1;
}
