import { findCondition, formatTime, type Cached, type DeploymentCondition } from '../../pkg/api/index.ts';

export type Conditions = readonly Cached<DeploymentCondition>[];

/** Reasons are public ids: `kubectl rollout status` and alerts of users depend on them. */
export const reasons = {
  newSetCreated: 'NewReplicaSetCreated',
  newSetFound: 'FoundNewReplicaSet',
  newSetAvailable: 'NewReplicaSetAvailable',
  setUpdated: 'ReplicaSetUpdated',
  setCreateFailed: 'ReplicaSetCreateError',
  deadlineExceeded: 'ProgressDeadlineExceeded',
  paused: 'DeploymentPaused',
  resumed: 'DeploymentResumed',
  enoughAvailable: 'MinimumReplicasAvailable',
  tooFewAvailable: 'MinimumReplicasUnavailable',
} as const;

export interface NewCondition {
  readonly type: 'Available' | 'Progressing' | 'ReplicaFailure';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export const progressingOf = (conditions: Conditions | undefined): Cached<DeploymentCondition> | undefined =>
  findCondition(conditions, 'Progressing');

/**
 * Sets a condition. A condition with the same status and reason does not change, not even its message: that is not worth
 * a write. `lastTransitionTime` changes only with the status.
 */
export function withCondition(conditions: Conditions, added: NewCondition, nowMs: number): Conditions {
  const present = findCondition(conditions, added.type);
  if (present?.status === added.status && present.reason === added.reason) return conditions;
  return replaceCondition(conditions, added, nowMs);
}

/** Sets a condition even if status and reason are the same: a new `lastUpdateTime` restarts the progress deadline. */
export function replaceCondition(conditions: Conditions, added: NewCondition, nowMs: number): Conditions {
  const present = findCondition(conditions, added.type);
  const now = formatTime(nowMs);
  const lastTransitionTime = present?.status === added.status ? present.lastTransitionTime : now;
  return [
    ...withoutCondition(conditions, added.type),
    { ...added, lastUpdateTime: now, lastTransitionTime: lastTransitionTime ?? now },
  ];
}

export function withoutCondition(conditions: Conditions, type: NewCondition['type']): Conditions {
  return conditions.filter((condition) => condition.type !== type);
}
