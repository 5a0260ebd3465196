import {
  compileSelector,
  ControllerRevisions,
  PersistentVolumeClaims,
  Pods,
  StatefulSets,
  type ObjectKey,
  type Pod,
  type StatefulSet,
} from '../../pkg/api/index.ts';
import {
  createClaims,
  enqueueSelf,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { sortRevisions } from '../../pkg/revisions/index.ts';
import { syncStatefulSet } from './apply-sync.ts';
import { enqueueSetsOfDeletedClaims, setsByClaimPrefix } from './claim-handler.ts';
import { claimsOf } from './known-claims.ts';
import { isMember } from './ordinals.ts';
import { arrangePods } from './replicas.ts';
import { createRevisionClaims } from './revision-claims.ts';
import { createSyncDeps, name, type Caches } from './sync-deps.ts';

/**
 * The requeue delay of a set that waits for its own writes. Revisions and new claims enqueue nothing, and pods are
 * created one after the other: a second for each would add up.
 */
const recheckMs = 50;

export function createStatefulSetController(context: ControllerContext, workers: number): Controller {
  const queue = context.queueFor('statefulset');
  const { informers } = context;
  const caches: Caches = {
    sets: informers.informerFor(StatefulSets),
    pods: informers.informerFor(Pods),
    claims: informers.informerFor(PersistentVolumeClaims),
    revisions: informers.informerFor(ControllerRevisions),
  };
  const { sets, pods, claims, revisions } = caches;
  const deps = createSyncDeps(context, caches);
  const owned = createClaims<StatefulSet, Pod>({
    client: deps.client,
    owners: sets,
    dependents: pods,
    selectorOf: ({ spec }) => compileSelector(spec.selector),
    requiredLabelsOf: ({ spec }) => spec.selector.matchLabels ?? {},
    isMember,
    written: deps.pendingPods,
  });
  const revisionsOf = createRevisionClaims({ ...deps, revisions });

  sets.addIndex(setsByClaimPrefix);
  const handlers = [
    sets.addHandler(enqueueSelf(queue)),
    pods.addHandler(owned.handler(queue)),
    claims.addHandler(enqueueSetsOfDeletedClaims(queue, sets.store)),
  ];

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const set = sets.store.get(key);
    if (set === undefined) return {};
    const history = revisionsOf.plan(set, owned.selectorOf(set));
    const members = owned.plan(set);
    const isClaimed = [history, members].every(({ adopt, release }) => adopt.length === 0 && release.length === 0);
    if (!isClaimed) {
      await revisionsOf.apply(history, set, signal);
      await owned.apply(members, set, signal);
      return { requeueAfterMs: recheckMs }; // sync once the caches have observed these writes
    }
    const arrangement = arrangePods(set, members.claimed);
    const known = { revisions: sortRevisions(history.claimed), claims: claimsOf(set, arrangement, claims.store) };
    return syncStatefulSet({ set, pods: members.claimed, arrangement, ...known }, deps, signal);
  }

  const care = {
    primary: sets.store,
    ownWrites: [deps.pendingPods, deps.pendingClaims, deps.pendingRevisions, deps.pendingSets],
    recheckMs,
    forget(key: ObjectKey): void {
      deps.metrics.forget(key);
      deps.statusPace.forget(key);
    },
  };
  const synced = [sets, pods, claims, revisions, ...handlers];
  const work = { name, context, queue, reconcile, caches: synced, workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
