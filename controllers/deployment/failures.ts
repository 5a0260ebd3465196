import type { Cached } from '../../pkg/api/index.ts';
import { reasons, withCondition } from './conditions.ts';
import type { Action, Snapshot } from './plan.ts';
import { hasProgressDeadline } from './progress.ts';
import { nameOf, type AnySet } from './replica-sets.ts';

/** A ReplicaSet with another template or owner has the name: the next hash includes a higher collision count. */
export function planCollision({ deployment }: Snapshot): Action {
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  return { kind: 'updateStatus', deployment: { ...deployment, status: { ...deployment.status, collisionCount } } };
}

/** Sets the condition that the new ReplicaSet could not be created. */
export function planCreateFailure({ deployment, nowMs }: Snapshot, set: AnySet, why: string): readonly Action[] {
  const message = `Failed to create new replica set "${nameOf(set)}": ${why}`;
  const event: Action = { kind: 'event', event: { type: 'Warning', reason: reasons.setCreateFailed, message } };
  if (!hasProgressDeadline(deployment)) return [event];
  const condition = { type: 'Progressing', status: 'False', reason: reasons.setCreateFailed, message } as const;
  const present = deployment.status?.conditions ?? [];
  const conditions = withCondition(present, condition, nowMs);
  if (conditions === present) return [event];
  const failed: Cached<typeof deployment> = { ...deployment, status: { ...deployment.status, conditions } };
  return [event, { kind: 'updateStatus', deployment: failed }];
}
