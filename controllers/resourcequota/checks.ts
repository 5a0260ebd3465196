import { keyOf, splitKey, type Cached, type ObjectKey, type ResourceQuota } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import {
  isUpToDate,
  runWorkers,
  type ControllerContext,
  type ReconcileObserver,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { isEqualUsage, usageOf } from '../../pkg/quota/index.ts';
import type { Store } from '../../informers/index.ts';
import { createWorkQueue, type WorkQueue } from '../../workqueue/index.ts';
import { Corrections } from './corrections.ts';
import type { Ledger } from './ledger.ts';
import { planStatus, type Allowance, type QuotaStatus } from './status.ts';

/**
 * How long the API server may take to store an object that it has charged. An object that was refused later, or that
 * existed already, stays charged: a difference that is older than this is corrected.
 */
const settleMs = 2000;
/** A client that ignores refusals may be charged all the time, and a namespace may be large. */
const listIntervalMs = 10_000;
/** While a cache is stale, its objects are listed in growing intervals: the server may be overloaded. */
const longestWaitMs = 60_000;
/** When a quota is judged again whose cache lacks an own write. */
const unsettledMs = 100;
/** Checks are not counted as reconciles of objects. */
export const uncounted: ReconcileObserver = { finished: () => {} };

interface Deps {
  readonly client: Pick<Client, 'listAll'>;
  readonly quotas: Store<ResourceQuota>;
  readonly ledger: Ledger;
  readonly sync: (key: ObjectKey) => void;
  /** Whether the cache has observed the own writes of the status. */
  readonly isSettled: (key: ObjectKey) => boolean;
}

/**
 * Corrects statuses that differ from the usage. Values are lowered only by what has become free, or after a live list has
 * shown that the caches are not stale: a lower status makes the API server accept more objects than the quota allows.
 */
export class StatusChecks {
  readonly #context: ControllerContext;
  readonly #deps: Deps;
  readonly #queue: WorkQueue<ObjectKey>;
  readonly #corrections = new Corrections();
  /** When the objects of a quota may be listed again. */
  readonly #nextListMs = new Map<ObjectKey, number>();

  constructor(context: ControllerContext, deps: Deps) {
    this.#context = context;
    this.#deps = deps;
    this.#queue = createWorkQueue<ObjectKey>({ name: 'checks', clock: context.clock });
  }

  /** By how much a sync may lower the status. */
  allowanceOf(quota: Cached<ResourceQuota>): Allowance {
    return this.#corrections.allowanceOf(quota);
  }

  addFreed(key: ObjectKey, amounts: ReadonlyMap<string, bigint>): void {
    this.#corrections.addFreed(key, amounts);
  }

  /** Compares status and usage after a while, instead of with each event of an object and of its quota. */
  check(key: ObjectKey): void {
    const quota = this.#deps.quotas.get(key);
    if (quota !== undefined && this.#corrections.open(quota)) this.#queue.addAfter(key, settleMs);
  }

  /** A sync has written this status, or had nothing to write. */
  synced(quota: Cached<ResourceQuota>, status: QuotaStatus | undefined, allowance: Allowance): void {
    const key = keyOf(quota);
    if (status !== undefined) {
      if (this.#corrections.wrote(quota, status, allowance)) this.#queue.addAfter(key, settleMs);
      return;
    }
    if (allowance.charged !== undefined) this.#corrections.close(key);
    if (this.#plan(quota) !== undefined) this.check(key);
    else this.#corrections.takeOff(key, allowance); // by a write whose response was lost
  }

  forget(key: ObjectKey): void {
    this.#queue.cancelDelay(key);
    this.#corrections.forget(key);
    this.#nextListMs.delete(key);
  }

  run(signal: AbortSignal): Promise<void> {
    const context = { ...this.#context, reconciles: uncounted };
    const reconcile = (key: ObjectKey, abandon: AbortSignal): Promise<ReconcileResult> => this.#judge(key, abandon);
    return runWorkers({ name: 'checks', context, queue: this.#queue, reconcile, caches: [], workers: 1 }, signal);
  }

  async #judge(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const { quotas, ledger, sync, isSettled } = this.#deps;
    // A window that began with an older status would take an own write for a charge that is missing.
    if (!isSettled(key)) return { requeueAfterMs: unsettledMs };
    const quota = quotas.get(key);
    const right = quota && this.#plan(quota);
    if (quota === undefined || right === undefined) {
      this.#corrections.forget(key);
      return {};
    }
    const safe = this.#plan(quota, this.#corrections.allowanceOf(quota));
    const proven = this.#plan(quota, this.#corrections.allowanceOf(quota, { isProven: true }));
    if (safe !== undefined) sync(key); // what needs no proof does not wait for it
    if (isSame(safe, proven)) {
      if (isSame(safe, right)) {
        this.#corrections.close(key); // the sync opens the next window
        return {};
      }
      this.#corrections.reopen(quota, { isStale: false });
      return { requeueAfterMs: settleMs };
    }
    const untilListMs = (this.#nextListMs.get(key) ?? 0) - this.#context.clock.monotonic();
    if (untilListMs > 0) {
      this.#corrections.reopen(quota, { isStale: false });
      return { requeueAfterMs: Math.max(settleMs, untilListMs) };
    }
    if (await isProven(key, { quota, right }, { ...this.#deps, signal })) {
      this.#nextListMs.set(key, this.#context.clock.monotonic() + listIntervalMs);
      this.#corrections.prove(key);
      ledger.recount(key); // handlers may be behind their cache
      sync(key);
      return {};
    }
    const stale = this.#corrections.reopen(quotas.get(key) ?? quota, { isStale: true });
    return { requeueAfterMs: Math.min(longestWaitMs, settleMs * 2 ** stale) };
  }

  #plan(quota: Cached<ResourceQuota>, allowance?: Allowance): QuotaStatus | undefined {
    return planStatus(quota, this.#deps.ledger.usageOf(keyOf(quota)).usage, allowance);
  }
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
