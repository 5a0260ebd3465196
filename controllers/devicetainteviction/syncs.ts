import { objectKey, splitKey, type DeviceTaintRule, type ObjectKey } from '../../pkg/api/index.ts';
import type { PendingWrites, Reconcile, ReconcileResult } from '../../pkg/controller/index.ts';
import { applyCondition, applyEviction, type ConditionDeps, type EvictDeps } from './apply.ts';
import type { Caches } from './caches.ts';
import { changedCondition, statusPeriodMs, statusWaitMs } from './rule-condition.ts';
import { countFor } from './rule-counts.ts';

/** A toleration may last for longer than a timer: the pod is then looked at again once a year. */
const longestWaitMs = 365 * 24 * 3_600_000;

export interface SyncDeps extends EvictDeps, ConditionDeps {
  readonly caches: Caches;
  readonly queue: { addAfter(key: ObjectKey, delayMs: number): void };
  /** How many pods each rule has evicted since the start, by uid. */
  readonly evicted: Map<string, number>;
  readonly pending: PendingWrites<DeviceTaintRule> | undefined;
}

/** The one queue has pods, whose keys have a namespace, and rules, whose keys have none. */
export function isKeyOfPod(key: ObjectKey): boolean {
  return splitKey(key).namespace !== undefined;
}

export function createReconcile(deps: SyncDeps): Reconcile {
  const { caches, clock, evicted, evictions, queue } = deps;
  const { pods, rules } = caches;

  async function reconcilePod(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const pod = pods.store.get(key);
    if (pod === undefined || evictions.of(pod)?.kind === 'evicted') return {};
    const due = caches.dueOf(pod);
    if (due === undefined) {
      evictions.cancel(key);
      return {};
    }
    for (const ruleName of due.rules.values()) queue.addAfter(objectKey(undefined, ruleName), statusPeriodMs);
    const waitMs = due.dueMs - clock.now();
    if (waitMs > 0) {
      evictions.schedule(pod, due.dueMs);
      return { requeueAfterMs: Math.min(waitMs, longestWaitMs) };
    }
    if (!(await applyEviction(pod, due.dueMs, deps, signal))) return {};
    for (const [uid, ruleName] of due.rules) {
      evicted.set(uid, (evicted.get(uid) ?? 0) + 1);
      queue.addAfter(objectKey(undefined, ruleName), statusPeriodMs);
    }
    return {};
  }

  async function reconcileRule(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const rule = rules?.store.get(key);
    if (rule === undefined) return {};
    const waitMs = statusWaitMs(rule, clock.now());
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const counts = { ...countFor(rule, caches), evicted: evicted.get(rule.metadata.uid) ?? 0 };
    const condition = changedCondition(rule, counts, clock.now());
    if (condition !== undefined) await applyCondition(rule, condition, deps, signal);
    return {};
  }

  return (key, signal) => (isKeyOfPod(key) ? reconcilePod : reconcileRule)(key, signal);
}
