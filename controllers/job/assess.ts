import { formatTime, parseTime, type Cached, type Job, type Pod } from '../../pkg/api/index.ts';
import { isPodActive, isPodReady, isPodTerminating } from '../../pkg/pods/index.ts';
import { continueStreak, type FailureStreak } from './backoff.ts';
import { announcedEnding, type Ending } from './conditions.ts';
import { countIndexes } from './index-list.ts';
import { computeIndexProgress, type IndexProgress } from './indexed.ts';
import { hasFailed, hasSucceeded, isCountable, isTracked } from './job-pods.ts';
import { indexCount, isIndexed, isSuspended } from './job-spec.ts';
import { countsAsFailure, judgeFailure } from './pod-failure-policy.ts';
import { describeSuccess } from './success-policy.ts';

/** The input of a sync. */
export interface Snapshot {
  readonly job: Cached<Job>;
  /** All pods of the Job. */
  readonly pods: readonly Cached<Pod>[];
  /** The streak of the pods that earlier syncs have counted. */
  readonly streak: FailureStreak;
  readonly nowMs: number;
}

/** The snapshot with the facts computed from it. */
export interface Assessment extends Snapshot {
  readonly activePods: readonly Cached<Pod>[];
  readonly ready: number;
  readonly terminating: number;
  /** Includes pods that have ended since the last sync, like `failed`. */
  readonly succeeded: number;
  readonly failed: number;
  readonly newlySucceeded: readonly Cached<Pod>[];
  readonly newlyFailed: readonly Cached<Pod>[];
  /** The streak with the newly ended pods. */
  readonly streakNow: FailureStreak;
  readonly indexes: IndexProgress | undefined;
  readonly startTime: string | undefined;
  /** Set when the Job must end although pods may still run. */
  readonly ending: Ending | undefined;
  /** Time until `activeDeadlineSeconds` ends the Job. */
  readonly deadlineInMs: number | undefined;
}

export function assess(snapshot: Snapshot): Assessment {
  const { job, pods, nowMs } = snapshot;
  const status = job.status ?? {};
  const { succeeded: uncountedSucceeded = [], failed: uncountedFailed = [] } = status.uncountedTerminatedPods ?? {};
  const newlySucceeded = selectNew(snapshot, uncountedSucceeded, hasSucceeded);
  const newlyFailed = selectNew(snapshot, uncountedFailed, (pod) => hasFailed(pod, job));
  const counted = newlyFailed.filter((pod) => countsAsFailure(judgeFailure(job.spec.podFailurePolicy, pod)));
  const activePods = pods.filter(isPodActive);
  const indexes = isIndexed(job) ? computeIndexProgress(job, pods) : undefined;
  const facts = {
    ...snapshot,
    activePods,
    ready: activePods.filter(isPodReady).length,
    terminating: pods.filter(isPodTerminating).length,
    succeeded:
      indexes === undefined
        ? (status.succeeded ?? 0) + newlySucceeded.length + uncountedSucceeded.length
        : countIndexes(indexes.succeeded),
    failed: (status.failed ?? 0) + counted.length + uncountedFailed.length,
    newlySucceeded,
    newlyFailed,
    streakNow: continueStreak(snapshot.streak, newlySucceeded, newlyFailed),
    indexes,
    startTime: status.startTime ?? (isSuspended(job) ? undefined : formatTime(nowMs)),
  };
  const deadlineInMs = remainingDeadlineMs(facts);
  return { ...facts, ending: computeEnding(facts, deadlineInMs), deadlineInMs };
}

/** Ended pods that are neither in the counters nor in the lists of the status. */
function selectNew(
  { job, pods }: Snapshot,
  uncounted: readonly string[],
  hasEnded: (pod: Cached<Pod>) => boolean,
): Cached<Pod>[] {
  const known = new Set(uncounted);
  return pods.filter((pod) => isTracked(pod) && !known.has(pod.metadata.uid) && isCountable(pod, job) && hasEnded(pod));
}

type Facts = Omit<Assessment, 'ending' | 'deadlineInMs'>;

function remainingDeadlineMs({ job, startTime, nowMs }: Facts): number | undefined {
  const { activeDeadlineSeconds } = job.spec;
  const startMs = parseTime(startTime);
  if (activeDeadlineSeconds === undefined || startMs === undefined || isSuspended(job)) return undefined;
  return Math.max(0, startMs + activeDeadlineSeconds * 1000 - nowMs);
}

/** An announced ending stays. Otherwise failure takes precedence over success. */
function computeEnding(facts: Facts, deadlineInMs: number | undefined): Ending | undefined {
  return announcedEnding(facts.job) ?? computeFailure(facts, deadlineInMs) ?? computeEarlySuccess(facts);
}

function computeFailure(facts: Facts, deadlineInMs: number | undefined): Ending | undefined {
  const { job, failed, indexes } = facts;
  const failure = (reason: string, message: string): Ending => ({ outcome: 'failed', reason, message });
  const policyMessage = failJobMessage(facts);
  if (policyMessage !== undefined) return failure('PodFailurePolicy', policyMessage);
  if (failed > (job.spec.backoffLimit ?? 6) || exceedsRestarts(facts)) {
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  if (deadlineInMs === 0) return failure('DeadlineExceeded', 'Job was active longer than specified deadline');
  if (indexes?.failed === undefined) return undefined;
  const failedIndexes = countIndexes(indexes.failed);
  if (failedIndexes > (job.spec.maxFailedIndexes ?? Infinity)) {
    return failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  }
  if (failedIndexes > 0 && failedIndexes + countIndexes(indexes.succeeded) >= indexCount(job)) {
    return failure('FailedIndexes', 'Job has failed indexes');
  }
  return undefined;
}

function failJobMessage({ job, pods }: Facts): string | undefined {
  const policy = job.spec.podFailurePolicy;
  if (policy === undefined) return undefined;
  for (const pod of pods) {
    if (!hasFailed(pod, job)) continue;
    const verdict = judgeFailure(policy, pod);
    if (verdict.action === 'FailJob') return verdict.message;
  }
  return undefined;
}

/** With `restartPolicy: OnFailure` pods restart instead of failing: the restarts count against the backoff limit. */
function exceedsRestarts({ job, pods }: Facts): boolean {
  if (job.spec.template.spec?.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    for (const { restartCount } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      restarts += restartCount;
    }
  }
  return restarts >= Math.max(1, job.spec.backoffLimit ?? 6);
}

function computeEarlySuccess({ job, indexes }: Facts): Ending | undefined {
  if (indexes === undefined) return undefined;
  const message = describeSuccess(job.spec.successPolicy, indexes.succeeded, indexCount(job));
  return message === undefined ? undefined : { outcome: 'succeeded', reason: 'SuccessPolicy', message };
}
