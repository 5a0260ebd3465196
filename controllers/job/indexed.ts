import type { Cached, Job, Pod } from '../../pkg/api/index.ts';
import { isPodActive, isPodTerminating, rankForDeletion } from '../../pkg/pods/index.ts';
import {
  hasIndex,
  indexListOf,
  noIndexes,
  parseIndexList,
  selectMissing,
  unionOf,
  type IndexList,
} from './index-list.ts';
import {
  allIndexFailures,
  completionIndexOf,
  countedIndexFailures,
  endedAtMs,
  hasFailed,
  hasSucceeded,
  isTracked,
  validIndexOf,
} from './job-pods.ts';
import { hasBackoffPerIndex, indexCount, replacesOnlyEndedPods } from './job-spec.ts';
import { countsAsFailure, judgeFailure } from './pod-failure-policy.ts';

/** The progress of an indexed Job. */
export interface IndexProgress {
  /** The succeeded indexes in the status. */
  readonly recorded: IndexList;
  /** All succeeded indexes, including new ones. */
  readonly succeeded: IndexList;
  /** The failed indexes; undefined without `backoffLimitPerIndex`. */
  readonly failed: IndexList | undefined;
  /**
   * The last failed pod of each index that needs a new pod. It must be kept: only its annotations have the number of
   * failures, which the next pod continues.
   */
  readonly toReplace: ReadonlyMap<number, Cached<Pod>>;
}

export function computeIndexProgress(job: Cached<Job>, pods: readonly Cached<Pod>[]): IndexProgress {
  const tracked = pods.filter(isTracked);
  const indexesOf = (wanted: (pod: Cached<Pod>) => boolean): number[] =>
    tracked.filter(wanted).flatMap((pod) => validIndexOf(pod, job) ?? []);
  const recorded = parseIndexList(job.status?.completedIndexes, indexCount(job));
  if (!hasBackoffPerIndex(job)) {
    const succeeded = unionOf(recorded, indexListOf(indexesOf(hasSucceeded)));
    return { recorded, succeeded, failed: undefined, toReplace: new Map() };
  }
  // The API server rejects a status in which an index has both succeeded and failed, but two pods of one index can end
  // that way. Then the result that is already in the status counts. Among two new results, success counts.
  const recordedFailed = parseIndexList(job.status?.failedIndexes, indexCount(job));
  const successes = indexesOf(hasSucceeded).filter((index) => !hasIndex(recordedFailed, index));
  const succeeded = unionOf(recorded, indexListOf(successes));
  const failures = indexesOf((pod) => exhaustsIndex(pod, job)).filter((index) => !hasIndex(succeeded, index));
  const failed = unionOf(recordedFailed, indexListOf(failures));
  return { recorded, succeeded, failed, toReplace: selectToReplace(job, pods, unionOf(succeeded, failed)) };
}

/** Whether the failure of this pod exceeds the backoff limit of its index, or matches a `FailIndex` rule. */
function exhaustsIndex(pod: Cached<Pod>, job: Cached<Job>): boolean {
  if (!hasFailed(pod, job)) return false;
  const verdict = judgeFailure(job.spec.podFailurePolicy, pod);
  if (verdict.action === 'FailIndex') return true;
  return countsAsFailure(verdict) && countedIndexFailures(pod) >= (job.spec.backoffLimitPerIndex ?? 0);
}

function selectToReplace(
  job: Cached<Job>,
  pods: readonly Cached<Pod>[],
  ended: IndexList,
): ReadonlyMap<number, Cached<Pod>> {
  const active = new Set(pods.filter(isPodActive).map(completionIndexOf));
  const chosen = new Map<number, Cached<Pod>>();
  for (const pod of pods) {
    const index = validIndexOf(pod, job);
    if (index === undefined || !isTracked(pod) || !hasFailed(pod, job)) continue;
    if (active.has(index) || hasIndex(ended, index)) continue;
    const rival = chosen.get(index);
    const isLater =
      rival === undefined || (allIndexFailures(pod) >= allIndexFailures(rival) && endedAtMs(pod) >= endedAtMs(rival));
    if (isLater) chosen.set(index, pod);
  }
  return chosen;
}

/** The lowest indexes without a pod that have neither succeeded nor failed, at most `count`. */
export function selectIndexesToStart(
  job: Cached<Job>,
  pods: readonly Cached<Pod>[],
  { succeeded, failed = noIndexes }: IndexProgress,
  count: number,
): number[] {
  const occupies = replacesOnlyEndedPods(job)
    ? (pod: Cached<Pod>): boolean => isPodActive(pod) || isPodTerminating(pod)
    : isPodActive;
  const occupied = indexListOf(pods.filter(occupies).flatMap((pod) => completionIndexOf(pod) ?? []));
  return selectMissing(unionOf(succeeded, failed, occupied), count, indexCount(job));
}

/** Separates surplus active pods, which are duplicates or have no valid index, from the needed ones. */
export function partitionByIndex(
  job: Cached<Job>,
  activePods: readonly Cached<Pod>[],
): { readonly surplus: readonly Cached<Pod>[]; readonly needed: readonly Cached<Pod>[] } {
  const surplus: Cached<Pod>[] = [];
  const needed: Cached<Pod>[] = [];
  const byIndex = Map.groupBy(activePods, (pod) => validIndexOf(pod, job));
  for (const [index, pods] of byIndex) {
    if (index === undefined) {
      surplus.push(...pods);
      continue;
    }
    const ranked = rankWorkForDeletion(pods);
    surplus.push(...ranked.slice(0, -1));
    needed.push(...ranked.slice(-1));
  }
  return { surplus, needed };
}

/** The youngest and least ready pods first. */
export function rankWorkForDeletion(pods: readonly Cached<Pod>[]): Cached<Pod>[] {
  return rankForDeletion(pods, { crowding: () => 0, nowMs: undefined, honourDeletionCost: false });
}
