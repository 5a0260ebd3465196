import {
  CustomResourceDefinitions,
  DeviceClasses,
  keyOf,
  metadataOf,
  ResourceClaims,
  resourceName,
  type Cached,
  type ObjectKey,
  type ResourceQuota,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { runWorkers, type ControllerContext, type ReconcileResult } from '../../pkg/controller/index.ts';
import type { Store } from '../../informers/index.ts';
import { createWorkQueue, exponentialLimiter } from '../../workqueue/index.ts';
import { StatusChecks, uncounted } from './checks.ts';
import { DeviceClassLinks } from './device-classes.ts';
import { createEvaluators, podOptions } from './evaluators.ts';
import { Ledger, type KnownUsage } from './ledger.ts';
import { discoveryPeriodMs, QuotableKinds } from './quotable-kinds.ts';

/** Operators install many definitions at once. One refresh of discovery after this delay is enough. */
const definitionsSettleMs = 1000;
const discoveryKey = 'discovery';

export interface QuotaUsage {
  readonly checks: Pick<StatusChecks, 'check' | 'allowanceOf' | 'synced'>;
  readonly kinds: QuotableKinds;
  readonly loops: readonly Loop[];
  isTracked(name: string): boolean;
  /** Starts to charge for the quota, and charges what is due. */
  count(quota: Cached<ResourceQuota>): Promise<void>;
  of(key: ObjectKey): KnownUsage;
  /** Syncs the quota, with all its charges computed again. */
  recount(key: ObjectKey): void;
  forget(key: ObjectKey): void;
  stop(): Promise<void>;
}

interface Deps {
  readonly client: Pick<Client, 'listAll'>;
  readonly isSettled: (key: ObjectKey) => boolean;
  readonly quotas: Store<ResourceQuota>;
  readonly sync: (key: ObjectKey) => void;
}

/** Joins the parts that know the usage of quotas: discovery, evaluators, ledger and the checks of statuses. */
export function createQuotaUsage(context: ControllerContext, { client, quotas, sync, isSettled }: Deps): QuotaUsage {
  const { clock, gates, informers } = context;
  const forEachQuota = (visit: (key: ObjectKey) => void): void => quotas.list().forEach((quota) => visit(keyOf(quota)));
  const kinds = new QuotableKinds(context.discovery, () => forEachQuota(sync));
  const pods = podOptions(gates, () => clock.now());
  const links = new DeviceClassLinks({
    informers,
    clock,
    pods,
    isServed: () => [ResourceClaims, DeviceClasses].every((kind) => kinds.serves(kind)),
    onChange: () => forEachQuota(recount),
    refresh: (claim) => ledger.refresh(resourceName(ResourceClaims), claim),
  });
  const extended = gates.isEnabled('DRAExtendedResource') ? links : undefined;
  const evaluators = createEvaluators({ pods, extended, kindOf: (resource) => kinds.get(resource) });
  const ledger = new Ledger({
    informers,
    clock,
    evaluators,
    onChange: (key, change) => {
      if (change.kind !== 'decrease') return checks.check(key); // the API server has charged already what was added
      checks.addFreed(key, change.freed);
      sync(key); // users wait for what has become free
    },
  });
  const checks = new StatusChecks(context, { client, quotas, ledger, sync, isSettled });

  function recount(key: ObjectKey): void {
    ledger.recount(key);
    sync(key);
  }

  return {
    kinds,
    loops: [(signal) => checks.run(signal), followDiscovery(context, kinds)],
    isTracked: (name) => evaluators.forNames([name]).length > 0,
    async count(quota) {
      ledger.track(quota);
      if (links.isReady) await ledger.count(keyOf(quota));
    },
    of: (key) => ledger.usageOf(key),
    checks,
    recount,
    forget(key) {
      checks.forget(key);
      ledger.forget(key);
    },
    stop: () => ledger.stop(),
  };
}

type Loop = (signal: AbortSignal) => Promise<void>;

/** Refreshes discovery from time to time, and soon after definitions have changed. */
function followDiscovery(context: ControllerContext, kinds: QuotableKinds): Loop {
  const queue = createWorkQueue<string>({
    name: discoveryKey,
    clock: context.clock,
    rateLimiter: exponentialLimiter({ baseMs: 1000, maxMs: discoveryPeriodMs }),
  });
  const refreshSoon = (): void => {
    kinds.expectChange();
    queue.addAfter(discoveryKey, definitionsSettleMs);
  };
  context.informers.informerFor(metadataOf(CustomResourceDefinitions)).addHandler(
    {
      added: (_, initial) => (initial ? undefined : refreshSoon()),
      updated: refreshSoon,
      deleted: refreshSoon,
    },
    { resyncMs: 0 },
  );
  const reconcile = (_: string, signal: AbortSignal): Promise<ReconcileResult> => kinds.sync(signal);
  const work = { name: discoveryKey, context: { ...context, reconciles: uncounted }, queue, reconcile };
  return (signal) => {
    queue.add(discoveryKey);
    return runWorkers({ ...work, caches: [], workers: 1 }, signal);
  };
}
