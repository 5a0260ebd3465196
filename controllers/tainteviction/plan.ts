import type { Eviction } from '../../pkg/evictions/index.ts';

export interface EvictionInput {
  /**
   * How long the pod tolerates the taints: undefined forever, 0 not at all. `node-gone`: the node is not in the cache, and
   * an eviction that has started continues.
   */
  readonly tolerated: number | undefined | 'node-gone';
  /** The eviction of this pod. */
  readonly eviction: Eviction | undefined;
  readonly nowMs: number;
}

export type EvictionPlan =
  | { readonly kind: 'leave' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'wait'; readonly dueMs: number }
  /** `cancelsWait`: the pod was waiting, and that wait ends early. */
  | { readonly kind: 'evict'; readonly dueMs: number; readonly cancelsWait: boolean };

/**
 * A waiting pod keeps its time: further taints do not change it, unless the pod does not tolerate one of them at all, or
 * now tolerates all of them forever.
 */
export function planEviction({ tolerated, eviction, nowMs }: EvictionInput): EvictionPlan {
  if (eviction?.kind === 'evicted') return { kind: 'leave' };
  if (tolerated === 'node-gone' && eviction === undefined) return { kind: 'leave' };
  if (tolerated === undefined) return { kind: eviction === undefined ? 'leave' : 'cancel' };
  if (eviction?.kind === 'evicting') return { kind: 'evict', dueMs: eviction.dueMs, cancelsWait: false };
  if (eviction?.kind === 'waiting') {
    if (eviction.dueMs <= nowMs) return { kind: 'evict', dueMs: eviction.dueMs, cancelsWait: false };
    if (tolerated === 0) return { kind: 'evict', dueMs: nowMs, cancelsWait: true };
    return { kind: 'wait', dueMs: eviction.dueMs };
  }
  if (tolerated === 0 || tolerated === 'node-gone') return { kind: 'evict', dueMs: nowMs, cancelsWait: false };
  return { kind: 'wait', dueMs: nowMs + tolerated };
}
