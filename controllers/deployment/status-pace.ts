import type { Cached, Deployment, ObjectKey } from '../../pkg/api/index.ts';
import { Pace } from '../../pkg/controller/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { Action, Plan } from './plan.ts';

/** The minimum time between two status writes of a Deployment. ReplicaSets write theirs every 50 ms at most. */
const statusIntervalMs = 100;

/**
 * Joins the status writes of a rollout. A Deployment that resizes a ReplicaSet syncs again as soon as that ReplicaSet has
 * followed: one write then has both changes. The status of a new generation is never deferred, nor that of a new
 * ReplicaSet: once its pods are available, no status would say that it was created, and the condition would go on naming
 * the ReplicaSet before it.
 */
export class StatusPace {
  readonly #pace: Pace;
  /** Deployments whose ReplicaSets were resized without a status write. */
  readonly #deferred = new Set<ObjectKey>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#pace = new Pace(clock);
  }

  /** The plan, without its status write if that has to wait. */
  apply(key: ObjectKey, plan: Plan, { metadata, status }: Cached<Deployment>): Plan {
    if (!plan.actions.some(writesStatus)) return plan;
    const isNew = metadata.generation !== status?.observedGeneration || plan.actions.some(creates);
    const waitMs = isNew ? 0 : this.#waitMs(key, plan);
    if (waitMs === 0) {
      this.#pace.ran(key);
      this.#deferred.delete(key);
      return plan;
    }
    const actions = plan.actions.filter((action) => !writesStatus(action));
    return { actions, result: { requeueAfterMs: waitMs } };
  }

  forget(key: ObjectKey): void {
    this.#pace.forget(key);
    this.#deferred.delete(key);
  }

  #waitMs(key: ObjectKey, plan: Plan): number {
    const waitMs = this.#pace.waitMs(key, statusIntervalMs);
    // Deferred once only: a rollout that resizes all the time must not keep the status from being written.
    if (waitMs > 0 || this.#deferred.has(key) || !plan.actions.some(resizes)) return waitMs;
    this.#deferred.add(key);
    this.#pace.ran(key);
    return statusIntervalMs;
  }
}

function writesStatus({ kind }: Action): boolean {
  return kind === 'updateStatus';
}

function creates({ kind }: Action): boolean {
  return kind === 'createReplicaSet';
}

/** Only a patch that changes the size has an event. */
function resizes(action: Action): boolean {
  return action.kind === 'patchReplicaSet' && action.event !== undefined;
}
