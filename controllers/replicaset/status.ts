import {
  findCondition,
  formatTime,
  isEqualJson,
  selectorFromSet,
  type Cached,
  type Pod,
  type ReplicaSetCondition,
  type ReplicaSetStatus,
} from '../../pkg/api/index.ts';
import { isPodAvailable, isPodReady, nextAvailabilityMs } from '../../pkg/pods/index.ts';
import type { Replicated } from './replica-kinds.ts';

export interface StatusInput {
  readonly owner: Cached<Replicated>;
  readonly activePods: readonly Cached<Pod>[];
  /** Undefined if the kind or the gates do not count terminating pods. */
  readonly terminating: number | undefined;
  /** Why pods could not be created or deleted, in the words of the API server. */
  readonly failure: string | undefined;
  readonly nowMs: number;
}

/** The owner's status, from its pods. */
export function computeStatus({ owner, activePods, terminating, failure, nowMs }: StatusInput): ReplicaSetStatus {
  const { minReadySeconds = 0, template } = owner.spec;
  const hasTemplateLabels = selectorFromSet(template?.metadata?.labels ?? {});
  let fullyLabeled = 0;
  let ready = 0;
  let available = 0;
  for (const pod of activePods) {
    if (hasTemplateLabels(pod.metadata.labels)) fullyLabeled += 1;
    if (!isPodReady(pod)) continue;
    ready += 1;
    if (isPodAvailable(pod, minReadySeconds, nowMs)) available += 1;
  }
  return {
    replicas: activePods.length,
    fullyLabeledReplicas: fullyLabeled,
    readyReplicas: ready,
    availableReplicas: available,
    terminatingReplicas: terminating,
    observedGeneration: owner.metadata.generation,
    conditions: computeConditions({ owner, activePods, terminating, failure, nowMs }),
  };
}

function computeConditions({ owner, activePods, failure, nowMs }: StatusInput): ReplicaSetCondition[] | undefined {
  const conditions: readonly Cached<ReplicaSetCondition>[] = owner.status?.conditions ?? [];
  const failing = findCondition(conditions, 'ReplicaFailure');
  if (failure === undefined) return nonEmpty(conditions.filter((condition) => condition !== failing));
  if (failing !== undefined) return nonEmpty(conditions); // keep the time of the first failure
  const tooFew = activePods.length < (owner.spec.replicas ?? 0);
  const added: ReplicaSetCondition = {
    type: 'ReplicaFailure',
    status: 'True',
    lastTransitionTime: formatTime(nowMs),
    reason: tooFew ? 'FailedCreate' : 'FailedDelete',
    message: failure,
  };
  return [...conditions, added];
}

function nonEmpty(conditions: readonly Cached<ReplicaSetCondition>[]): ReplicaSetCondition[] | undefined {
  return conditions.length === 0 ? undefined : [...conditions];
}

/** Whether the owner already has this status. */
export function isStatusCurrent(owner: Cached<Replicated>, status: ReplicaSetStatus): boolean {
  return isEqualJson(withoutZeros(owner.status ?? {}), withoutZeros(status));
}

/** Whether the owner already has this status but for the number of terminating pods. */
export function differsInTerminatingOnly(owner: Cached<Replicated>, status: ReplicaSetStatus): boolean {
  const others = (each: object): object => withoutZeros({ ...each, terminatingReplicas: undefined });
  return !isStatusCurrent(owner, status) && isEqualJson(others(owner.status ?? {}), others(status));
}

/** The API server omits counts of zero, except for `terminatingReplicas`. */
function withoutZeros(status: object): object {
  return Object.fromEntries(
    Object.entries(status).filter(([name, value]) => value !== 0 || name === 'terminatingReplicas'),
  );
}

/** When to requeue because a ready pod becomes available. */
export function nextStatusChangeMs(input: Pick<StatusInput, 'owner' | 'activePods' | 'nowMs'>): number | undefined {
  return nextAvailabilityMs(input.activePods, input.owner.spec.minReadySeconds ?? 0, input.nowMs);
}
