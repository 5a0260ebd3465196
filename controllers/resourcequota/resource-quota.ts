import {
  isEqualJson,
  keyOf,
  ResourceQuotas,
  type Cached,
  type ObjectKey,
  type ResourceQuota,
} from '../../pkg/api/index.ts';
import {
  decided,
  PendingWrites,
  runAll,
  runPeriodically,
  runWorkers,
  statusIntervalMs,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
  type Work,
} from '../../pkg/controller/index.ts';
import { applyStatus } from './apply.ts';
import { createQuotaUsage } from './quota-usage.ts';
import { lacksUsage, planStatus } from './status.ts';

const name = 'resourcequota-controller';
/** How often a quota is looked at again while the lists of its resources arrive, and once they are late. */
const recheckMs = { soon: 100, late: 5000 };

export interface ResourceQuotaOptions {
  readonly workers: number;
  /** How often all usage is computed anew. 0: never. */
  readonly resyncMs: number;
}

/** Keeps the usage in the statuses of ResourceQuotas, by which the API server accepts or refuses new objects. */
export function createResourceQuotaController(context: ControllerContext, options: ResourceQuotaOptions): Controller {
  const { clock, logger } = context;
  const client = context.clientFor(name);
  const queue = context.queueFor('resourcequota_primary');
  // For quotas without usage: until they have it, the API server refuses what they limit.
  const firstQueue = context.queueFor('resourcequota_priority');
  const quotas = context.informers.informerFor(ResourceQuotas);
  const pending = new PendingWrites<ResourceQuota>(quotas, clock);
  // Objects are often deleted together, or replaced: one write then has all, and is no conflict with the new charge.
  const syncSoon = (key: ObjectKey): void => queue.addAfter(key, statusIntervalMs);
  const isSettled = (key: ObjectKey): boolean => pending.isSettled(key);
  const usage = createQuotaUsage(context, { client, quotas: quotas.store, sync: syncSoon, isSettled });

  const enqueue = (quota: Cached<ResourceQuota>): void => {
    (lacksUsage(quota, usage.isTracked) ? firstQueue : queue).add(keyOf(quota));
  };
  const handlers = quotas.addHandler({
    added: enqueue,
    updated(before, after) {
      if (!isEqualJson(before.spec, after.spec)) enqueue(after);
      else usage.checks.check(keyOf(after)); // mostly the API server, which has charged a new object
    },
    deleted: (last) => queue.add(keyOf(last)), // the loop drops the state of the key
  });

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const found = quotas.store.get(key);
    if (found === undefined) return {};
    await usage.count(found);
    const quota = quotas.store.get(key);
    if (quota === undefined) return {};
    const known = usage.of(key);
    if (known.missing === 'soon') return { requeueAfterMs: recheckMs.soon };
    const allowance = usage.checks.allowanceOf(quota);
    const status = decided(planStatus(quota, known.usage, allowance));
    const isWritten = status === undefined || (await applyStatus(quota, status, { client, pending }, signal));
    // Time for the cache to observe the status with the new charge: a write before that would be a conflict again.
    if (!isWritten) return { requeueAfterMs: statusIntervalMs };
    usage.checks.synced(quota, status, allowance);
    return known.missing === 'late' ? { requeueAfterMs: recheckMs.late } : {};
  }

  const caches = [quotas, handlers, usage.kinds];
  const minIntervalMs = (): number => statusIntervalMs;
  const care = { primary: quotas.store, ownWrites: [pending], minIntervalMs, forget: usage.forget };
  const work = { name, context, reconcile, caches, workers: options.workers, ...care };
  const works: Work[] = [queue, firstQueue].map((each) => ({ ...work, queue: each }));
  const resync = (): void => {
    for (const quota of quotas.store.list()) usage.recount(keyOf(quota));
  };
  const resyncing = { periodMs: options.resyncMs, clock, logger, caches };
  const loops = [
    ...works.map((each) => (signal: AbortSignal) => runWorkers(each, signal)),
    ...usage.loops,
    ...(options.resyncMs > 0 ? [(signal: AbortSignal) => runPeriodically(resyncing, resync, signal)] : []),
  ];
  async function run(signal: AbortSignal): Promise<void> {
    try {
      await runAll(loops, signal);
    } finally {
      await usage.stop();
    }
  }
  return { name, run };
}
