import { isBeingDeleted, type Cached, type Pod } from '../../pkg/api/index.ts';
import { remainingBackoffMs, remainingIndexBackoffMs } from './backoff.ts';
import { partitionByIndex, rankWorkForDeletion, selectIndexesToStart, type IndexProgress } from './indexed.ts';
import { hasBackoffPerIndex, isIndexed, isSuspended, replacesOnlyEndedPods } from './job-spec.ts';
import type { Assessment } from './assess.ts';

/** The maximum number of pods that one sync creates or deletes. */
const maxPodsPerSync = 500;

export type PodsPlan =
  /** The Job is terminating: the garbage collector deletes its pods. */
  | { readonly kind: 'leave' }
  /** The number of active pods is right. */
  | { readonly kind: 'keep' }
  /** Too few pods are active, but the back-off has not passed. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** One pod per entry: for this index, or undefined for a Job without indexes. */
  | { readonly kind: 'create'; readonly indexes: readonly (number | undefined)[] }
  /** Delete surplus pods. They are not counted. */
  | { readonly kind: 'remove'; readonly pods: readonly Cached<Pod>[] }
  /** Delete the active pods because the Job ends. They are counted. */
  | { readonly kind: 'end'; readonly pods: readonly Cached<Pod>[] };

/** Plans the creation or deletion of pods. One sync never does both. Deletions come first. */
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
  // Work queue: after the first success the queue is empty. Running pods may finish, and no pod is added.
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

/** Starts the indexes whose back-off has passed. If there is none, waits for the first of them. */
function planIndexes(candidates: readonly number[], { toReplace }: IndexProgress, nowMs: number): PodsPlan {
  const waits = candidates.map((index) => remainingIndexBackoffMs(toReplace.get(index), nowMs));
  const startable = candidates.filter((_, position) => waits[position] === 0);
  if (startable.length > 0) return { kind: 'create', indexes: startable };
  return waits.length === 0 ? { kind: 'keep' } : { kind: 'wait', ms: waits.reduce((a, b) => Math.min(a, b)) };
}
