/** What is under way for one pod, known by its uid: a name can come to mean another pod. */
export type Eviction =
  | { readonly kind: 'waiting'; readonly uid: string; readonly dueMs: number }
  | { readonly kind: 'evicting'; readonly uid: string; readonly dueMs: number }
  /** Deleted by us. Remembered until it is gone, so that a taint that changes meanwhile does not evict it again. */
  | { readonly kind: 'evicted'; readonly uid: string };

export interface EvictionInput {
  /**
   * How long the pod may stay: undefined for ever, zero not at all. `node-gone` when there is no node to ask: what was
   * begun then goes on.
   */
  readonly tolerated: number | undefined | 'node-gone';
  /** Of this very pod. */
  readonly eviction: Eviction | undefined;
  readonly nowMs: number;
}

export type EvictionPlan =
  | { readonly kind: 'leave' }
  /** Nothing shall happen to the pod any more. */
  | { readonly kind: 'cancel' }
  | { readonly kind: 'wait'; readonly dueMs: number }
  /** `instead` of a time that was still running. */
  | { readonly kind: 'evict'; readonly dueMs: number; readonly instead: boolean };

/**
 * Once its time runs, a pod keeps it: taints that come on top neither shorten nor prolong it, unless the pod does not
 * tolerate one of them at all, or by now tolerates them all for ever.
 */
export function planEviction({ tolerated, eviction, nowMs }: EvictionInput): EvictionPlan {
  if (eviction?.kind === 'evicted') return { kind: 'leave' };
  if (tolerated === 'node-gone' && eviction === undefined) return { kind: 'leave' };
  if (tolerated === undefined) return { kind: eviction === undefined ? 'leave' : 'cancel' };
  if (eviction?.kind === 'evicting') return { kind: 'evict', dueMs: eviction.dueMs, instead: false };
  if (eviction?.kind === 'waiting') {
    if (eviction.dueMs <= nowMs) return { kind: 'evict', dueMs: eviction.dueMs, instead: false };
    if (tolerated === 0) return { kind: 'evict', dueMs: nowMs, instead: true };
    return { kind: 'wait', dueMs: eviction.dueMs };
  }
  if (tolerated === 0 || tolerated === 'node-gone') return { kind: 'evict', dueMs: nowMs, instead: false };
  return { kind: 'wait', dueMs: nowMs + tolerated };
}
