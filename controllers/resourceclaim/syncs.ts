import { isBeingDeleted, objectKey, PodGroups, Pods, splitKey, type ObjectKey } from '../../pkg/api/index.ts';
import { ApiError } from '../../pkg/client/index.ts';
import { decided, RefusedError, type Reconcile, type ReconcileResult } from '../../pkg/controller/index.ts';
import { podGroupNameOf, type ClaimUser } from '../../pkg/resourceclaims/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { applyClaimPlan, applyReservations, applySteps, findLostClaims, type ApplyDeps } from './apply.ts';
import type { Caches } from './caches.ts';
import { owningPodOf, planClaim } from './claim-plan.ts';
import { findAbsentConsumers, stateOfConsumer } from './consumers.ts';
import { Leftovers } from './leftovers.ts';
import { isPodDone } from './pod-state.ts';
import { planReservations, planUser, type UserView } from './user-plan.ts';
import { parseWorkKey, type Subject } from './work-keys.ts';

export interface SyncDeps extends Omit<ApplyDeps, 'key'> {
  readonly caches: Caches;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly deletedUids: { has(uid: string): boolean };
}

type Syncs = Readonly<Record<Subject, Reconcile>> & { forget(key: ObjectKey): void };

/** One reconcile for each kind of key. */
export function createSyncs(deps: SyncDeps): Syncs {
  const { caches } = deps;
  const { pods, groups } = caches;
  /** Keys for which a create had no clear answer. */
  const unclear = new Set<ObjectKey>();
  const leftovers = new Leftovers();

  /** Undefined if there was nothing to do. After a write, events enqueue the key again. */
  async function generate(
    key: ObjectKey,
    user: ClaimUser,
    view: UserView,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const own = { ...deps, key };
    if (unclear.has(key)) {
      await findLostClaims(user, own, signal);
      unclear.delete(key);
      return { requeueAfterMs: 0 };
    }
    try {
      return (await applySteps(decided(planUser(user, view)), { user, kind: view.kind }, own, signal)) ? {} : undefined;
    } catch (error) {
      if (isUnclear(error)) unclear.add(key);
      throw error;
    }
  }

  return {
    forget(key) {
      unclear.delete(key);
      leftovers.forget(parseWorkKey(key).object);
    },

    async pod(key, signal) {
      const pod = pods.store.get(parseWorkKey(key).object);
      if (pod === undefined || isPodDone(pod) || isBeingDeleted(pod.metadata)) return {};
      const group = caches.groupOf(pod);
      if (group === 'missing') throw new RefusedError(`pod group ${podGroupNameOf(pod) ?? ''} not found`);
      const view = caches.viewOf(pod, Pods, group);
      const reservations = planReservations(pod, view);
      const generated = await generate(key, pod, view, signal);
      if (generated === undefined) await applyReservations(reservations, { ...deps, key }, signal);
      return generated ?? {};
    },

    async podgroup(key, signal) {
      const group = groups?.store.get(parseWorkKey(key).object);
      if (group === undefined || isBeingDeleted(group.metadata)) return {};
      return (await generate(key, group, caches.viewOf(group, PodGroups), signal)) ?? {};
    },

    claim: createClaimSync(deps, leftovers),
  };
}

/** The request may have taken effect. An answer of the server that refuses it says that it has not. */
function isUnclear(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof RefusedError) return false;
    if (cause instanceof ApiError) return cause.status >= 500;
  }
  return true;
}

function createClaimSync(deps: SyncDeps, leftovers: Leftovers): Reconcile {
  const { caches, clock, deletedUids, client } = deps;
  const { claims, pods } = caches;
  return async (key, signal) => {
    const { object } = parseWorkKey(key);
    const { namespace } = splitKey(object);
    const before = claims.store.get(object);
    if (before === undefined) return {};
    const absent = await findAbsentConsumers(before, { caches, deletedUids, client }, signal);
    const claim = claims.store.get(object);
    if (claim === undefined) return {};
    const owner = owningPodOf(claim);
    const pod = owner && pods.store.get(objectKey(namespace, owner.name));
    const waitMs = leftovers.waitMs(claim, clock.monotonic());
    const plan = decided(
      planClaim({
        claim,
        isLeftOver: waitMs === 0,
        isGone: (consumer) =>
          absent.has(consumer.uid) || stateOfConsumer(consumer, namespace, { caches, deletedUids }) === 'gone',
        isOwnerDone: pod !== undefined && (pod.metadata.uid !== owner?.uid || isPodDone(pod)),
      }),
    );
    await applyClaimPlan(plan, claim, { ...deps, key }, signal);
    return waitMs === undefined || waitMs === 0 ? {} : { requeueAfterMs: waitMs };
  };
}
