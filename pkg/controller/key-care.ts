import type { Kind, ObjectKey } from '../api/index.ts';
import type { Clock } from '../time/index.ts';
import { Pace } from './pace.ts';
import type { Reconcile } from './reconcile.ts';
import { decided } from './trace.ts';

/** Own writes that the cache of their kind may not have observed yet, by the key that they were made for. */
export interface OwnWrites<K = ObjectKey> {
  readonly kind: Kind;
  /** Whether the cache has observed every write made for the key. */
  isSettled(key: K): boolean;
  forget(key: K): void;
}

/** The options of the worker loop that apply to each key. */
export interface KeyCare<K = ObjectKey> {
  /**
   * A key waits until the caches have observed these writes. A reconcile on a stale cache would create the same pods
   * again, or delete pods that are already terminating.
   */
  readonly ownWrites?: readonly OwnWrites<K>[] | undefined;
  /** After how long a waiting key is checked again. Default 1 s. The event of the write usually enqueues it sooner. */
  readonly recheckMs?: number | undefined;
  /** Called when a key has to wait for a write of this kind. */
  readonly onStale?: ((kind: Kind) => void) | undefined;
  /** The minimum time between two reconciles of the key. Default 0. */
  readonly minIntervalMs?: ((key: K) => number) | undefined;
  /** The cache of the objects that keys name. When an object is gone, all state kept for its key is dropped. */
  readonly primary?: { get(key: K): unknown } | undefined;
  /** Drops the state that the controller itself keeps for a key whose object is gone. */
  readonly forget?: ((key: K) => void) | undefined;
}

const defaultRecheckMs = 1000;

/** Wraps `reconcile`: it runs once the key need not wait, and cleans up after the key's object is gone. */
export function withKeyCare<K>(
  reconcile: Reconcile<K>,
  care: KeyCare<K>,
  clock: Pick<Clock, 'monotonic'>,
): Reconcile<K> {
  const { ownWrites = [], recheckMs = defaultRecheckMs, onStale, minIntervalMs, primary } = care;
  const pace = minIntervalMs && new Pace<K>(clock);

  function waitMs(key: K): number {
    const stale = ownWrites.find((writes) => !writes.isSettled(key));
    if (stale !== undefined) {
      onStale?.(stale.kind);
      decided(`wait until the cache has observed own writes of ${stale.kind.kind} objects`);
      return recheckMs;
    }
    const paceMs = minIntervalMs && pace ? pace.waitMs(key, minIntervalMs(key)) : 0;
    if (paceMs > 0) decided('wait: the last sync was too recent');
    return paceMs;
  }

  function forget(key: K): void {
    for (const writes of ownWrites) writes.forget(key);
    pace?.forget(key);
    care.forget?.(key);
  }

  return async (key, signal) => {
    const requeueAfterMs = waitMs(key);
    if (requeueAfterMs > 0) return { requeueAfterMs };
    const result = await reconcile(key, signal);
    if (primary !== undefined && primary.get(key) === undefined) forget(key);
    else pace?.ran(key);
    return result;
  };
}
