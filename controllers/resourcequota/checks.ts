import { keyOf, splitKey, type Cached, type ObjectKey, type ResourceQuota } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import {
  runWorkers,
  type ControllerContext,
  type ReconcileObserver,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { isEqualUsage, usageOf } from '../../pkg/quota/index.ts';
import type { Store } from '../../informers/index.ts';
import { createWorkQueue } from '../../workqueue/index.ts';
import { Corrections } from './corrections.ts';
import { isUpToDate } from './freshness.ts';
import type { Ledger } from './ledger.ts';
import { planStatus, type Allowance, type QuotaStatus } from './status.ts';

/**
 * How long the API server may take to store an object that it has charged. An object that was refused later, or that
 * existed already, stays charged: a difference that is older than this is corrected.
 */
const settleMs = 2000;
/** While a cache is stale, its objects are listed in growing intervals: the server may be overloaded. */
const longestWaitMs = 60_000;
/** Checks are not counted as reconciles of objects. */
export const uncounted: ReconcileObserver = { finished: () => {} };

export interface StatusChecks {
  /** What the status may be lowered by, without and with objects that the cache may lack. */
  allowanceOf(quota: Cached<ResourceQuota>): Allowance;
  addFreed(key: ObjectKey, amounts: ReadonlyMap<string, bigint>): void;
  /** Compares status and usage after a while, instead of with each event of an object and of its quota. */
  check(key: ObjectKey): void;
  /** A sync has written this status, or had nothing to write. */
  synced(quota: Cached<ResourceQuota>, status: QuotaStatus | undefined, allowance: Allowance): void;
  forget(key: ObjectKey): void;
  run(signal: AbortSignal): Promise<void>;
}

interface Deps {
  readonly client: Pick<Client, 'listAll'>;
  readonly quotas: Store<ResourceQuota>;
  readonly ledger: Ledger;
  readonly sync: (key: ObjectKey) => void;
}

/**
 * Corrects statuses that differ from the usage. Values are lowered only by what has become free, or after a live list has
 * shown that the caches are not stale: a lower status makes the API server accept more objects than the quota allows.
 */
export function createStatusChecks(context: ControllerContext, deps: Deps): StatusChecks {
  const { quotas, ledger, sync } = deps;
  const queue = createWorkQueue<ObjectKey>({ name: 'checks', clock: context.clock });
  const corrections = new Corrections();
  const planOf = (quota: Cached<ResourceQuota>, allowance?: Allowance): QuotaStatus | undefined =>
    planStatus(quota, ledger.usageOf(keyOf(quota)).usage, allowance);

  function check(key: ObjectKey): void {
    const quota = quotas.get(key);
    if (quota !== undefined && corrections.open(quota)) queue.addAfter(key, settleMs);
  }

  async function judge(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const quota = quotas.get(key);
    const right = quota && planOf(quota);
    if (quota === undefined || right === undefined) {
      corrections.forget(key);
      return {};
    }
    const safe = planOf(quota, corrections.allowanceOf(quota));
    const proven = planOf(quota, corrections.allowanceOf(quota, { isProven: true }));
    if (isSame(safe, proven)) {
      if (safe !== undefined) sync(key);
      corrections.reopen(quota, { isStale: false });
      return { requeueAfterMs: settleMs };
    }
    if (await isProven(key, { quota, right }, { ...deps, signal })) {
      corrections.prove(key);
      ledger.recount(key); // handlers may be behind their cache
      sync(key);
      return {};
    }
    const stale = corrections.reopen(quotas.get(key) ?? quota, { isStale: true });
    return { requeueAfterMs: Math.min(longestWaitMs, settleMs * 2 ** stale) };
  }

  return {
    check,
    allowanceOf: (quota) => corrections.allowanceOf(quota),
    addFreed: (key, amounts) => corrections.addFreed(key, amounts),
    synced(quota, status, allowance) {
      const key = keyOf(quota);
      if (status !== undefined) {
        corrections.wrote(quota, status, allowance);
        queue.addAfter(key, settleMs);
        return;
      }
      if (allowance.charged !== undefined) corrections.close(key);
      if (planOf(quota) !== undefined) check(key);
    },
    forget(key) {
      queue.cancelDelay(key);
      corrections.forget(key);
    },
    run: (signal) =>
      runWorkers(
        {
          name: 'checks',
          context: { ...context, reconciles: uncounted },
          queue,
          reconcile: judge,
          caches: [],
          workers: 1,
        },
        signal,
      ),
  };
}

interface Difference {
  readonly quota: Cached<ResourceQuota>;
  readonly right: QuotaStatus;
}

/** Whether the caches lack no object that could explain why values of the status are too high. */
async function isProven(
  key: ObjectKey,
  { quota, right }: Difference,
  { client, ledger, signal }: Deps & { readonly signal: AbortSignal },
): Promise<boolean> {
  const usage = usageOf(right.used);
  const before = usageOf(quota.status?.used);
  const high = new Set(
    [...usage].filter(([name, { nanos }]) => nanos < (before.get(name)?.nanos ?? 0n)).map(([n]) => n),
  );
  const namespace = splitKey(key).namespace ?? '';
  for (const informer of ledger.informersOf(key, high)) {
    if (!(await isUpToDate(informer, { client, namespace }, signal))) return false;
  }
  return true;
}

function isSame(first: QuotaStatus | undefined, second: QuotaStatus | undefined): boolean {
  if (first === undefined || second === undefined) return first === second;
  return isEqualUsage(usageOf(first.used), usageOf(second.used));
}
