import { LRUCache } from 'lru-cache';

import {
  PodGroups,
  Pods,
  type Kind,
  type ObjectKey,
  type Pod,
  type PodGroup,
  type ResourceClaim,
} from '../../pkg/api/index.ts';
import {
  findServed,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { createCaches } from './caches.ts';
import { addHandlers } from './handlers.ts';
import { defineResourceClaimMetrics } from './metrics.ts';
import { createSyncs } from './syncs.ts';
import { parseWorkKey } from './work-keys.ts';

const name = 'resourceclaim-controller';
/** A new claim or status usually enqueues its pod, unless there is nothing left to do. */
const recheckMs = 50;
const maxDeletedUids = 500;

/** Makes the claims of pods from templates, and releases, deallocates and deletes claims when their pods end. */
export function createResourceClaimController(context: ControllerContext, workers: number): Controller {
  const { discovery, gates, logger } = context;
  if (!gates.isEnabled('DRAWorkloadResourceClaims')) return { name, run: wire(context, workers, undefined) };

  return {
    name,
    /** An informer of an API that is not served would keep the process from being ready. */
    async run(signal) {
      const kind = await findServed(discovery, [PodGroups], signal);
      if (kind === undefined) logger.info({}, 'PodGroups are not served: groups get no claims');
      await wire(context, workers, kind)(signal);
    },
  };
}

function wire(context: ControllerContext, workers: number, groupKind: Kind<PodGroup> | undefined): Controller['run'] {
  const { clock } = context;
  const queue = context.queueFor('resource_claim');
  const caches = createCaches(context, groupKind);
  const { pods, claims, templates, groups } = caches;
  const metrics = defineResourceClaimMetrics(context.metrics);
  const deletedUids = new LRUCache<string, true>({ max: maxDeletedUids });
  const handlers = addHandlers(caches, queue, { add: (uid) => void deletedUids.set(uid, true) });
  const counting = claims.addHandler(metrics.count);
  const pendingClaims = new PendingWrites<ResourceClaim>(claims, clock);
  const pendingPods = new PendingWrites<Pod>(pods, clock);
  const pendingGroups = groups && new PendingWrites<PodGroup>(groups, clock);
  const syncs = createSyncs({
    caches,
    clock,
    deletedUids,
    client: context.clientFor('resource-claim-controller'),
    recorder: context.recorderFor('resource_claim'),
    metrics,
    pendingClaims,
    wroteStatus(kind, key, resourceVersion) {
      (kind === Pods ? pendingPods : pendingGroups)?.wrote(key, resourceVersion);
    },
  });

  function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    return syncs[parseWorkKey(key).subject](key, signal);
  }

  const stores = { claim: claims.store, pod: pods.store, podgroup: groups?.store };
  const primary = {
    get(key: ObjectKey): unknown {
      const { subject, object } = parseWorkKey(key);
      return stores[subject]?.get(object);
    },
  };
  const ownWrites = [pendingClaims, pendingPods, ...(pendingGroups === undefined ? [] : [pendingGroups])];
  const care = { primary, ownWrites, recheckMs, forget: (key: ObjectKey) => syncs.forget(key) };
  const synced = [pods, claims, templates, ...(groups === undefined ? [] : [groups]), ...handlers, counting];
  const work = { name, context, queue, reconcile, caches: synced, workers, ...care };
  return (signal) => runWorkers(work, signal);
}
