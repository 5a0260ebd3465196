import { isBeingDeleted, type Cached, type Pod } from '../../pkg/api/index.ts';
import { remainingBackoffMs, remainingIndexBackoffMs } from './backoff.ts';
import { partitionByIndex, rankWorkForDeletion, selectIndexesToStart, type IndexProgress } from './indexed.ts';
import { hasBackoffPerIndex, isIndexed, isSuspended, replacesOnlyEndedPods } from './job-spec.ts';
import type { Assessment } from './assess.ts';

/** How many pods one sync creates or deletes at most, before it waits to see them. */
const maxPodsPerSync = 500;

export type PodsPlan =
  /** The Job itself is going: its pods are the garbage collector's. */
  | { readonly kind: 'leave' }
  /** As many as wanted are active. */
  | { readonly kind: 'keep' }
  /** Too few are, but failures demand patience. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** One pod per entry: for its index, or for none. */
  | { readonly kind: 'create'; readonly indexes: readonly (number | undefined)[] }
  /** Not wanted any more: they go uncounted. */
  | { readonly kind: 'remove'; readonly pods: readonly Cached<Pod>[] }
  /** The Job ends: they are deleted, and their ends still count. */
  | { readonly kind: 'end'; readonly pods: readonly Cached<Pod>[] };

/** What to do about the Job's pods. Of creating and deleting, one sync does one, and deleting comes first. */
export function planPods(assessment: Assessment): PodsPlan {
  const { job, activePods, ending } = assessment;
  if (ending !== undefined) return { kind: 'end', pods: activePods };
  if (isBeingDeleted(job.metadata)) return { kind: 'leave' };
  if (isSuspended(job)) return { kind: 'remove', pods: activePods };
  const wanted = wantedPods(assessment);
  const surplus = selectSurplus(assessment, Math.max(0, activePods.length - wanted));
  if (surplus.length > 0) return { kind: 'remove', pods: surplus.slice(0, maxPodsPerSync) };
  return planCreation(assessment, wanted);
}

function wantedPods({ job, activePods, succeeded }: Assessment): number {
  const { completions, parallelism = 1 } = job.spec;
  // Of a work queue, the first success says that the queue is empty: those still at work may end it, none joins them.
  if (completions === undefined) return succeeded > 0 ? activePods.length : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

function selectSurplus({ job, activePods }: Assessment, atLeast: number): readonly Cached<Pod>[] {
  const { surplus, needed } = isIndexed(job) ? partitionByIndex(job, activePods) : { surplus: [], needed: activePods };
  if (surplus.length >= atLeast) return surplus;
  return [...surplus, ...rankWorkForDeletion(needed).slice(0, atLeast - surplus.length)];
}

function planCreation(assessment: Assessment, wanted: number): PodsPlan {
  const { job, pods, activePods, terminating, indexes, streakNow, nowMs } = assessment;
  const missing = wanted - activePods.length - (replacesOnlyEndedPods(job) ? terminating : 0);
  if (missing <= 0) return { kind: 'keep' };
  const waitMs = hasBackoffPerIndex(job) ? 0 : remainingBackoffMs(streakNow, nowMs);
  if (waitMs > 0) return { kind: 'wait', ms: waitMs };
  const count = Math.min(missing, maxPodsPerSync);
  if (indexes === undefined) return { kind: 'create', indexes: Array.from({ length: count }, () => undefined) };
  return planIndexes(selectIndexesToStart(job, pods, indexes, count), indexes, nowMs);
}

/** Starts the indexes whose own back-off has passed; the others wait for the first of them. */
function planIndexes(candidates: readonly number[], { toReplace }: IndexProgress, nowMs: number): PodsPlan {
  const waits = candidates.map((index) => remainingIndexBackoffMs(toReplace.get(index), nowMs));
  const startable = candidates.filter((_, position) => waits[position] === 0);
  if (startable.length > 0) return { kind: 'create', indexes: startable };
  return waits.length === 0 ? { kind: 'keep' } : { kind: 'wait', ms: waits.reduce((a, b) => Math.min(a, b)) };
}
