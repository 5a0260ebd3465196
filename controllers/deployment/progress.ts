import {
  findCondition,
  parseTime,
  zeroTimeMs,
  type Cached,
  type Deployment,
  type DeploymentCondition,
  type DeploymentStatus,
  type ReplicaSet,
} from '../../pkg/api/index.ts';
import {
  progressingOf,
  reasons,
  replaceCondition,
  withCondition,
  withoutCondition,
  type Conditions,
} from './conditions.ts';
import { nameOf } from './replica-sets.ts';
import { computeStatus, isComplete, type StatusInput } from './status.ts';

/** "No deadline" in the API: the largest int32. */
const noDeadline = 2 ** 31 - 1;

export function hasProgressDeadline(deployment: Cached<Deployment>): boolean {
  const { progressDeadlineSeconds } = deployment.spec;
  return progressDeadlineSeconds !== undefined && progressDeadlineSeconds !== noDeadline;
}

/** The status of a Deployment during a rollout: the counts and the Progressing condition. */
export function computeRolloutStatus(input: StatusInput): Cached<DeploymentStatus> {
  const status = computeStatus(input);
  const conditions = withReplicaFailure(judgeProgress(input, status), input);
  return { ...status, conditions };
}

function judgeProgress(input: StatusInput, status: Cached<DeploymentStatus>): Conditions {
  const { deployment, current, nowMs } = input;
  const conditions = status.conditions ?? [];
  if (!hasProgressDeadline(deployment)) return withoutCondition(conditions, 'Progressing');
  const present = progressingOf(input.conditions);
  const wasComplete = status.replicas === status.updatedReplicas && present?.reason === reasons.newSetAvailable;
  if (wasComplete) return conditions; // scaling up, or losing a pod, is not a new rollout
  const subject =
    current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${nameOf(current)}"`;
  const progressing = (
    status: 'True' | 'False',
    reason: string,
    what: string,
  ): Parameters<typeof withCondition>[1] => ({
    type: 'Progressing',
    status,
    reason,
    message: `${subject} ${what}`,
  });
  if (isComplete(deployment, status)) {
    const done = progressing('True', reasons.newSetAvailable, 'has successfully progressed.');
    return withCondition(conditions, done, nowMs);
  }
  if (hasProgressed(deployment.status, status)) {
    return replaceCondition(conditions, progressing('True', reasons.setUpdated, 'is progressing.'), nowMs);
  }
  if (isTimedOut(deployment, conditions, nowMs)) {
    const timedOut = progressing('False', reasons.deadlineExceeded, 'has timed out progressing.');
    return withCondition(conditions, timedOut, nowMs);
  }
  return conditions;
}

/** More new pods, fewer old pods, or more ready or available pods than in the last status. */
function hasProgressed(before: Cached<DeploymentStatus> | undefined, after: Cached<DeploymentStatus>): boolean {
  const count = (status: Cached<DeploymentStatus> | undefined, field: CountField): number => status?.[field] ?? 0;
  const oldPods = (status: Cached<DeploymentStatus> | undefined): number =>
    count(status, 'replicas') - count(status, 'updatedReplicas');
  return (
    count(after, 'updatedReplicas') > count(before, 'updatedReplicas') ||
    oldPods(after) < oldPods(before) ||
    count(after, 'readyReplicas') > count(before, 'readyReplicas') ||
    count(after, 'availableReplicas') > count(before, 'availableReplicas')
  );
}

type CountField = 'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas';

function isTimedOut(deployment: Cached<Deployment>, conditions: Conditions, nowMs: number): boolean {
  const condition = progressingOf(conditions);
  if (condition === undefined || condition.reason === reasons.newSetAvailable) return false;
  if (condition.reason === reasons.deadlineExceeded) return true;
  return deadlineMs(deployment, condition) < nowMs;
}

function deadlineMs(deployment: Cached<Deployment>, condition: Cached<DeploymentCondition>): number {
  return (parseTime(condition.lastUpdateTime) ?? zeroTimeMs) + (deployment.spec.progressDeadlineSeconds ?? 0) * 1000;
}

/** When to requeue to check the progress deadline; undefined if there is none to check. */
export function nextProgressCheckMs(
  deployment: Cached<Deployment>,
  status: Cached<DeploymentStatus>,
  nowMs: number,
): number | undefined {
  const condition = progressingOf(status.conditions);
  if (!hasProgressDeadline(deployment) || condition === undefined) return undefined;
  if (isComplete(deployment, status)) return undefined;
  // A rollout that has timed out or completed cannot time out any more.
  if (condition.reason === reasons.deadlineExceeded || condition.reason === reasons.newSetAvailable) return undefined;
  return Math.max(0, deadlineMs(deployment, condition) - nowMs) + 1000; // times in conditions are whole seconds
}

/** Copies the ReplicaFailure condition of a ReplicaSet, that of the new ReplicaSet first. */
function withReplicaFailure(conditions: Conditions, { current, old, nowMs }: StatusInput): Conditions {
  const failureOf = (set: Pick<Cached<ReplicaSet>, 'status'>): ReturnType<typeof findFailure> =>
    findFailure(set.status);
  const failure = (current === undefined ? undefined : failureOf(current)) ?? old.map(failureOf).find(Boolean);
  if (failure === undefined) return withoutCondition(conditions, 'ReplicaFailure');
  const present = findCondition(conditions, 'ReplicaFailure');
  if (present?.status === failure.status && present.reason === failure.reason) return conditions;
  const { status, reason = '', message = '', lastTransitionTime: sinceTime } = failure;
  const added = { type: 'ReplicaFailure', status: status === 'True' ? 'True' : 'False', reason, message } as const;
  const lastTransitionTime = present?.status === status ? present.lastTransitionTime : sinceTime;
  return replaceCondition(conditions, added, nowMs).map((condition) =>
    condition.type === 'ReplicaFailure' ? { ...condition, lastUpdateTime: sinceTime, lastTransitionTime } : condition,
  );
}

function findFailure(
  status: Cached<ReplicaSet>['status'],
): NonNullable<NonNullable<Cached<ReplicaSet>['status']>['conditions']>[number] | undefined {
  return findCondition(status?.conditions, 'ReplicaFailure');
}
