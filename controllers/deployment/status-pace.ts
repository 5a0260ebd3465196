import type { Cached, Deployment, ObjectKey } from '../../pkg/api/index.ts';
import type { StatusPace } from '../../pkg/controller/index.ts';
import { progressingOf } from './conditions.ts';
import type { Action, Plan } from './plan.ts';
import { isSameStatus } from './status.ts';

/** The minimum time between two status writes of a Deployment. ReplicaSets write theirs every 50 ms at most. */
const intervalMs = 100;

/**
 * The plan, without its status write if that has to wait. A Deployment that resizes a ReplicaSet syncs again as soon as
 * that ReplicaSet has followed: one write then has both changes. Terminating pods are counted when the next is due. The
 * status of a new generation is never deferred, nor one with another reason for its progress: if the rollout is complete
 * by the next write, no status would have said that it had begun, and the condition would name the ReplicaSet before it
 * for good.
 */
export function paceStatus(
  plan: Plan,
  { key, deployment, pace }: { key: ObjectKey; deployment: Cached<Deployment>; pace: StatusPace },
): Plan {
  if (!plan.actions.some(writesStatus)) return plan;
  const isObserved = deployment.metadata.generation === deployment.status?.observedGeneration;
  const mayWait = isObserved && !plan.actions.some((action) => changesReason(action, deployment));
  const expectsMore = plan.actions.some((action) => resizes(action) || countsTerminating(action, deployment));
  const waitMs = mayWait ? pace.waitMs(key, { expectsMore, isCurrent: false, intervalMs }) : 0;
  if (waitMs === 0) {
    pace.wrote(key);
    return plan;
  }
  const actions = plan.actions.filter((action) => !writesStatus(action));
  return { actions, result: { requeueAfterMs: waitMs } };
}

function writesStatus({ kind }: Action): boolean {
  return kind === 'updateStatus';
}

function changesReason(action: Action, { status }: Cached<Deployment>): boolean {
  if (action.kind !== 'updateStatus') return false;
  return progressingOf(action.deployment.status?.conditions)?.reason !== progressingOf(status?.conditions)?.reason;
}

/** Pods that terminate do so together, and no rollout waits for their number. */
function countsTerminating(action: Action, { status }: Cached<Deployment>): boolean {
  if (action.kind !== 'updateStatus') return false;
  const written = action.deployment.status;
  const { terminatingReplicas } = status ?? {};
  return (
    written?.terminatingReplicas !== terminatingReplicas && isSameStatus(status, { ...written, terminatingReplicas })
  );
}

/** Only a patch that changes the size has an event. */
function resizes(action: Action): boolean {
  return action.kind === 'patchReplicaSet' && action.event !== undefined;
}
