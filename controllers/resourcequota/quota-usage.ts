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
import {
  runWorkers,
  type ControllerContext,
  type ReconcileObserver,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import type { Store } from '../../informers/index.ts';
import { createWorkQueue, exponentialLimiter, type WorkQueue } from '../../workqueue/index.ts';
import { DeviceClassLinks } from './device-classes.ts';
import { createEvaluators, podOptions } from './evaluators.ts';
import { Ledger, type KnownUsage } from './ledger.ts';
import { discoveryPeriodMs, QuotableKinds } from './quotable-kinds.ts';
import { planStatus } from './status.ts';

/**
 * The API server charges a new object before it stores it. So the status is ahead of the caches for a moment, and an
 * object that was refused later stays charged. A difference that lasts for this long without an event is corrected.
 */
const settleMs = 2000;
/** Operators install many definitions at once. One refresh of discovery after this delay is enough. */
const definitionsSettleMs = 1000;
const discoveryKey = 'discovery';
/** Discovery and checks are not counted as reconciles of objects. */
const uncounted: ReconcileObserver = { finished: () => {} };

export interface QuotaUsage {
  readonly kinds: QuotableKinds;
  readonly loops: readonly Loop[];
  isTracked(name: string): boolean;
  /** Starts to charge for the quota, and charges what is due. */
  count(quota: Cached<ResourceQuota>): Promise<void>;
  of(key: ObjectKey): KnownUsage;
  /** Syncs the quota if its status differs from its usage for some time. */
  check(key: ObjectKey): void;
  /** Syncs the quota, with all its charges computed again. */
  recount(key: ObjectKey): void;
  forget(key: ObjectKey): void;
  stop(): Promise<void>;
}

interface Deps {
  readonly quotas: Store<ResourceQuota>;
  readonly sync: (key: ObjectKey) => void;
}

/** Joins the parts that know the usage of quotas: discovery, evaluators, ledger and the checks of statuses. */
export function createQuotaUsage(context: ControllerContext, { quotas, sync }: Deps): QuotaUsage {
  const { clock, gates, informers } = context;
  const checks = createWorkQueue<ObjectKey>({ name: 'checks', clock });
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
    // Users wait for what has become free. What was added, the API server has charged already.
    onChange: (key, change) => (change === 'decrease' ? sync(key) : check(key)),
  });

  function syncIfDifferent(key: ObjectKey): void {
    const quota = quotas.get(key);
    if (quota !== undefined && planStatus(quota, ledger.usageOf(key).usage) !== undefined) sync(key);
  }

  /** Compares status and usage once events have settled, instead of with each event of an object and of its quota. */
  function check(key: ObjectKey): void {
    checks.cancelDelay(key);
    checks.addAfter(key, settleMs);
  }

  function recount(key: ObjectKey): void {
    ledger.recount(key);
    sync(key);
  }

  return {
    kinds,
    loops: [checkStatuses(context, checks, syncIfDifferent), followDiscovery(context, kinds)],
    isTracked: (name) => evaluators.forNames([name]).length > 0,
    async count(quota) {
      ledger.track(quota);
      if (links.isReady) await ledger.count(keyOf(quota));
    },
    of: (key) => ledger.usageOf(key),
    check,
    recount,
    forget(key) {
      checks.cancelDelay(key);
      ledger.forget(key);
    },
    stop: () => ledger.stop(),
  };
}

type Loop = (signal: AbortSignal) => Promise<void>;

function checkStatuses(context: ControllerContext, queue: WorkQueue<ObjectKey>, check: Deps['sync']): Loop {
  const reconcile = async (key: ObjectKey): Promise<ReconcileResult> => {
    check(key);
    return {};
  };
  const work = { name: 'checks', context: { ...context, reconciles: uncounted }, queue, reconcile };
  return (signal) => runWorkers({ ...work, caches: [], workers: 1 }, signal);
}

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
