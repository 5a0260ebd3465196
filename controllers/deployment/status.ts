import {
  isEqualJson,
  type Cached,
  type Deployment,
  type DeploymentStatus,
  type ReplicaSet,
} from '../../pkg/api/index.ts';
import { reasons, withCondition, type Conditions } from './conditions.ts';
import { availableOf, replicasOf, sum, type AnySet } from './replica-sets.ts';
import { desiredOf, fenceposts } from './rolling.ts';

export interface StatusInput {
  readonly deployment: Cached<Deployment>;
  readonly current: AnySet | undefined;
  readonly old: readonly Cached<ReplicaSet>[];
  /** The Deployment's conditions, with the changes of this sync so far. */
  readonly conditions: Conditions;
  readonly countTerminating: boolean;
  readonly nowMs: number;
}

/** The counts and the Available condition. For progress see `progress.ts`. */
export function computeStatus(input: StatusInput): Cached<DeploymentStatus> {
  const { deployment, current, old, nowMs } = input;
  const sets: readonly AnySet[] = current === undefined ? old : [...old, current];
  const available = sum(sets, availableOf);
  const enough = available >= desiredOf(deployment) - fenceposts(deployment).maxUnavailable;
  const availability = enough
    ? ({ status: 'True', reason: reasons.enoughAvailable, message: 'Deployment has minimum availability.' } as const)
    : ({
        status: 'False',
        reason: reasons.tooFewAvailable,
        message: 'Deployment does not have minimum availability.',
      } as const);
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: sum(sets, (set) => set.status?.replicas ?? 0),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum(sets, (set) => set.status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(sets, replicasOf) - available),
    terminatingReplicas: input.countTerminating ? countTerminating(sets) : undefined,
    collisionCount: deployment.status?.collisionCount,
    conditions: withCondition(input.conditions, { type: 'Available', ...availability }, nowMs),
  };
}

/** Undefined if a ReplicaSet has a status without this count. A new ReplicaSet without a status counts as 0. */
function countTerminating(sets: readonly AnySet[]): number | undefined {
  let total = 0;
  for (const { status } of sets) {
    if (status?.terminatingReplicas !== undefined) total += status.terminatingReplicas;
    else if ((status?.observedGeneration ?? 0) !== 0) return undefined;
  }
  return total;
}

/** Whether all pods belong to the new ReplicaSet and are available. */
export function isComplete(deployment: Cached<Deployment>, status: Cached<DeploymentStatus> | undefined): boolean {
  const desired = desiredOf(deployment);
  return (
    (status?.updatedReplicas ?? 0) === desired &&
    (status?.replicas ?? 0) === desired &&
    (status?.availableReplicas ?? 0) === desired &&
    (status?.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

export function isSameStatus(
  a: Cached<DeploymentStatus> | undefined,
  b: Cached<DeploymentStatus> | undefined,
): boolean {
  return isEqualJson(withoutZeros(a ?? {}), withoutZeros(b ?? {}));
}

/** The API server omits counts of zero, except where zero differs from unknown. */
function withoutZeros(status: object): object {
  const kept = (name: string, value: unknown): boolean =>
    (value !== 0 || name === 'terminatingReplicas' || name === 'collisionCount') &&
    !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(status).filter(([name, value]) => kept(name, value)));
}
