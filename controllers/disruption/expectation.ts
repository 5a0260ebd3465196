import {
  controllerOf,
  scaledValue,
  type Cached,
  type OwnerReference,
  type Pod,
  type PodDisruptionBudget,
} from '../../pkg/api/index.ts';

/** The scale of the controller in a pod's owner reference. */
export type ControllerScale =
  /** `uid` is that of the Deployment if a ReplicaSet belongs to one. */
  | { readonly kind: 'found'; readonly uid: string; readonly replicas: number }
  /** The controller is deleted, or another object has its name. */
  | { readonly kind: 'absent' }
  | Failed;

export interface Failed {
  readonly kind: 'failed';
  readonly error: Error;
  /** Another attempt fails too, until a pod or the API changes. */
  readonly isLasting: boolean;
}

export type Expectation =
  | {
      readonly kind: 'known';
      readonly expectedPods: number;
      readonly desiredHealthy: number;
      readonly unmanagedPods: readonly string[];
    }
  | Failed;

/** No controller of a pod was found, so the number of expected pods is unknown. */
class NoControllersError extends Error {
  override readonly name = 'NoControllersError';
  readonly reason = 'NoControllers';
}

/** Whether the budget depends on the desired replicas of controllers, not only on a number of pods. */
export function needsScales({ spec }: Cached<PodDisruptionBudget>): boolean {
  return (spec?.maxUnavailable ?? undefined) !== undefined || typeof spec?.minAvailable === 'string';
}

/** The controllers of these pods by uid. */
export function controllersOf(pods: readonly Cached<Pod>[]): ReadonlyMap<string, Cached<OwnerReference>> {
  const controllers = new Map<string, Cached<OwnerReference>>();
  for (const pod of pods) {
    const controller = controllerOf(pod);
    if (controller !== undefined && !controllers.has(controller.uid)) controllers.set(controller.uid, controller);
  }
  return controllers;
}

/**
 * The controllers whose scale is still unknown, in the order of their pods' names. None after the first failure, which
 * alone decides: a budget over the pods of 200 Jobs reads one scale, not 200.
 */
export function selectUnread(
  pods: readonly Cached<Pod>[],
  scales: ReadonlyMap<string, ControllerScale>,
): readonly Cached<OwnerReference>[] {
  const inOrder = pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const unread: Cached<OwnerReference>[] = [];
  for (const reference of controllersOf(inOrder).values()) {
    const scale = scales.get(reference.uid);
    if (scale === undefined) unread.push(reference);
    else if (scale.kind !== 'found') break;
  }
  return unread;
}

/**
 * How many pods there should be, and how many of them must be healthy. `scales` has the uid of owner references as
 * keys.
 */
export function computeExpectation(
  { spec }: Cached<PodDisruptionBudget>,
  pods: readonly Cached<Pod>[],
  scales: ReadonlyMap<string, ControllerScale>,
): Expectation {
  const maxUnavailable = spec?.maxUnavailable ?? undefined;
  const minAvailable = spec?.minAvailable ?? undefined;
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { kind: 'known', expectedPods: pods.length, desiredHealthy: minAvailable, unmanagedPods: [] };
  }
  if (maxUnavailable === undefined && minAvailable === undefined) {
    return { kind: 'known', expectedPods: 0, desiredHealthy: 0, unmanagedPods: [] };
  }
  const failure = findFailure(pods, scales);
  if (failure !== undefined) return failure;
  const expectedPods = sumOf(pods, scales);
  const unmanagedPods = pods.filter((pod) => controllerOf(pod) === undefined).map(({ metadata }) => metadata.name);
  const desiredHealthy =
    maxUnavailable === undefined
      ? scaledValue(minAvailable ?? 0, expectedPods, 'up')
      : Math.max(0, expectedPods - scaledValue(maxUnavailable, expectedPods, 'up'));
  return { kind: 'known', expectedPods, desiredHealthy, unmanagedPods };
}

/**
 * The failure of the first pod by name: a message that changed with the order of the cache would be written every time.
 */
function findFailure(pods: readonly Cached<Pod>[], scales: ReadonlyMap<string, ControllerScale>): Failed | undefined {
  let first: { readonly name: string; readonly scale: ControllerScale | undefined } | undefined;
  for (const pod of pods) {
    const controller = controllerOf(pod);
    const { name } = pod.metadata;
    if (controller === undefined || (first !== undefined && first.name <= name)) continue;
    const scale = scales.get(controller.uid);
    if (scale?.kind !== 'found') first = { name, scale };
  }
  if (first === undefined) return undefined;
  if (first.scale?.kind === 'failed') return first.scale;
  const error = new NoControllersError(`found no controllers for pod ${JSON.stringify(first.name)}`);
  return { kind: 'failed', error, isLasting: true };
}

/** Each controller counts once: all ReplicaSets of a Deployment count as the Deployment. */
function sumOf(pods: readonly Cached<Pod>[], scales: ReadonlyMap<string, ControllerScale>): number {
  const replicas = new Map<string, number>();
  for (const uid of controllersOf(pods).keys()) {
    const scale = scales.get(uid);
    if (scale?.kind === 'found') replicas.set(scale.uid, scale.replicas);
  }
  let sum = 0;
  for (const count of replicas.values()) sum = (sum + count) | 0; // an int32 in the API
  return sum;
}
