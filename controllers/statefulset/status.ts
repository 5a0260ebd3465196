import { isBeingDeleted, type Cached, type Pod, type StatefulSet } from '../../pkg/api/index.ts';
import { nextAvailabilityMs } from '../../pkg/pods/index.ts';
import { choosesByCount, revisionOf, type Versions } from './identity.ts';
import { replicasOf } from './ordinals.ts';
import { isAvailable, isRunningAndReady, type Availability } from './replicas.ts';

export type Status = NonNullable<StatefulSet['status']>;

export interface StatusInput extends Availability {
  readonly set: Cached<StatefulSet>;
  readonly pods: readonly Cached<Pod>[];
  readonly versions: Versions;
  readonly collisionCount: number;
  /** The number of pods that this sync has deleted for the update. */
  readonly deletedForUpdate: number;
}

/** The set's status, from its pods. Conditions are dropped: no controller of Kubernetes sets any. */
export function computeStatus(input: StatusInput): Status {
  const { set, pods, versions, collisionCount, deletedForUpdate } = input;
  const [current, update] = [versions.current.name, versions.update.name];
  const created = pods.filter(({ status }) => (status?.phase ?? '') !== '');
  const ready = created.filter(isRunningAndReady);
  const staying = created.filter(({ metadata }) => !isBeingDeleted(metadata)).map(revisionOf);
  const atRevision = (name: string): number => staying.filter((revision) => revision === name).length;
  return completeUpdate(set, {
    replicas: created.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, input)).length,
    // A deleted pod need not be at the current revision: without the bound, the server would refuse the status.
    currentReplicas: Math.max(0, atRevision(current) - deletedForUpdate),
    updatedReplicas: atRevision(update),
    currentRevision: current,
    updateRevision: update,
    observedGeneration: set.metadata.generation,
    collisionCount,
  });
}

/** Once all pods are ready at the update revision, it is the current revision. */
function completeUpdate(set: Cached<StatefulSet>, status: Status): Status {
  const wanted = replicasOf(set);
  const isComplete =
    set.spec.updateStrategy?.type === 'RollingUpdate' &&
    status.updatedReplicas === wanted &&
    status.readyReplicas === wanted &&
    status.replicas === wanted;
  return isComplete
    ? { ...status, currentReplicas: status.updatedReplicas, currentRevision: status.updateRevision }
    : status;
}

/** Whether no status write is needed. A change of the collision count alone needs none. */
export function isStatusCurrent({ status: known }: Cached<StatefulSet>, status: Status): boolean {
  const counts = ['replicas', 'readyReplicas', 'availableReplicas', 'currentReplicas', 'updatedReplicas'] as const;
  return (
    (status.observedGeneration ?? 0) <= (known?.observedGeneration ?? 0) &&
    counts.every((name) => (known?.[name] ?? 0) === (status[name] ?? 0)) &&
    (known?.currentRevision ?? '') === status.currentRevision &&
    (known?.updateRevision ?? '') === status.updateRevision
  );
}

/**
 * Whether later syncs decide by what this status changes. The current revision is known only from the status, and without
 * settings of the rolling update `currentReplicas` chooses the revision of a missing pod: if a pod is deleted for an
 * update and the status does not say so, the next sync creates it at the old revision, and deletes it again, for ever.
 */
export function decidesRevisions(set: Cached<StatefulSet>, status: Status): boolean {
  const { currentRevision = '', currentReplicas = 0 } = set.status ?? {};
  return (
    currentRevision !== status.currentRevision ||
    (choosesByCount(set) && currentReplicas !== (status.currentReplicas ?? 0))
  );
}

/** When to requeue because a ready pod becomes available. */
export function nextStatusChangeMs(
  set: Cached<StatefulSet>,
  pods: readonly Cached<Pod>[],
  status: Status,
  nowMs: number,
): number | undefined {
  const { minReadySeconds = 0 } = set.spec;
  if (minReadySeconds <= 0 || status.readyReplicas === status.availableReplicas) return undefined;
  return nextAvailabilityMs(pods, minReadySeconds, nowMs) ?? minReadySeconds * 1000;
}
