import { copyOf, Jobs, keyOf, type Cached, type Job, type JobStatus } from '../../pkg/api/index.ts';
import { decided } from '../../pkg/controller/index.ts';
import type { EventRecorder, NewEvent } from '../../pkg/events/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { applyPods, releasePods, writeStatus, type ApplyDeps } from './apply.ts';
import { assess, type Assessment, type Snapshot } from './assess.ts';
import { continueStreak, type FailureStreak } from './backoff.ts';
import { computeFinished } from './completion.ts';
import type { FailureStreaks } from './failure-streaks.ts';
import { announcedEnding, withAnnouncement, type Ending } from './conditions.ts';
import { computeProgress, type Progress, type ProgressOptions } from './progress.ts';
import { planPods, type PodsPlan } from './scaling.ts';
import { countReleased, isStatusCurrent, planTracking, trackedUids, type TrackingPlan } from './tracking.ts';

export interface SyncDeps extends ApplyDeps, ProgressOptions {
  readonly clock: Clock;
  /** Updated once the status has recorded the ended pods: from then on their failures count as old. */
  readonly streaks: Pick<FailureStreaks, 'set'>;
}

/** Failed pods are replaced in batches too. */
const shortestWaitMs = 1000;

/**
 * Syncs a Job: creates or deletes pods, records ended pods in the status, removes their finalizers, and counts them in
 * the status. A sync can continue from the state after any of these writes. Returns when to requeue the Job.
 */
export async function syncJob(snapshot: Snapshot, deps: SyncDeps, signal: AbortSignal): Promise<number | undefined> {
  const startMs = deps.clock.monotonic();
  let assessment = assess(snapshot);
  const plan = decided(planPods(assessment));
  let result: 'success' | 'error' = 'error';
  try {
    const job = await announceEarlySuccess(assessment, deps, signal);
    assessment = { ...assessment, job };
    const outcome = await applyPods(plan, assessment, deps, signal);
    await applyProgress(assessment, computeProgress(assessment, plan, outcome, deps), deps, signal);
    if (outcome.error !== undefined) throw outcome.error;
    result = 'success';
    return requeueAfterMs(assessment, plan);
  } finally {
    deps.metrics.synced(snapshot.job, plan.kind, result, (deps.clock.monotonic() - startMs) / 1000);
  }
}

function requeueAfterMs({ ending, deadlineInMs }: Assessment, plan: PodsPlan): number | undefined {
  const waits = [
    ...(ending === undefined && deadlineInMs !== undefined ? [deadlineInMs] : []),
    ...(plan.kind === 'wait' ? [Math.max(shortestWaitMs, plan.ms)] : []),
  ];
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/**
 * A Job that succeeds while pods still run deletes these pods. The status must say so before the first deletion: after a
 * crash in between, the next sync would count the deleted pods as failures.
 */
async function announceEarlySuccess(
  { job, ending, activePods, startTime, nowMs }: Assessment,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<Cached<Job>> {
  if (ending?.outcome !== 'succeeded' || activePods.length === 0 || announcedEnding(job) !== undefined) return job;
  const { status } = copyOf<Job>(job);
  const conditions = [...withAnnouncement(status?.conditions ?? [], ending, nowMs)];
  return writeStatus(job, { ...status, startTime, conditions }, deps, signal);
}

async function applyProgress(
  assessment: Assessment,
  progress: Progress,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<void> {
  const { job, pods } = assessment;
  const { recorder } = deps.control;
  const tracking = planTracking(assessment, progress);
  const recorded = await writeIfChanged(job, tracking.status, deps, signal);
  deps.streaks.set(job, streakAfter(assessment, tracking));
  deps.metrics.failuresJudged(tracking.failureActions);
  if (progress.suspension !== undefined) recorder.event(Jobs, job, suspensionEvents[progress.suspension]);

  const { released, error } = await releasePods(tracking.release, keyOf(job), deps, signal);
  const counted = countReleased(tracking.status, trackedUids(pods).difference(released));
  const mayFinish = error === undefined && tracking.isComplete;
  const ending = mayFinish ? progress.ending : undefined;
  const finished = ending && computeFinished(job, counted, ending, deps.clock.now());
  await writeIfChanged(recorded, finished ?? counted, deps, signal);
  if (error !== undefined) throw error;
  if (ending !== undefined && finished !== undefined) reportEnding(job, finished, ending, deps);
}

async function writeIfChanged(
  job: Cached<Job>,
  status: JobStatus,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<Cached<Job>> {
  return isStatusCurrent(job.status, status) ? job : writeStatus(job, status, deps, signal);
}

/** The streak with the newly ended pods that this sync has recorded. */
function streakAfter({ streak, newlySucceeded, newlyFailed }: Assessment, { release }: TrackingPlan): FailureStreak {
  const recorded = new Set(release);
  return continueStreak(
    streak,
    newlySucceeded.filter((pod) => recorded.has(pod)),
    newlyFailed.filter((pod) => recorded.has(pod)),
  );
}

const suspensionEvents: Readonly<Record<NonNullable<Progress['suspension']>, NewEvent>> = {
  suspended: { type: 'Normal', reason: 'Suspended', message: 'Job suspended' },
  resumed: { type: 'Normal', reason: 'Resumed', message: 'Job resumed' },
};

function reportEnding(job: Cached<Job>, status: JobStatus, ending: Ending, { control, metrics }: SyncDeps): void {
  const { recorder }: { readonly recorder: EventRecorder } = control;
  metrics.finished(job, ending);
  if (ending.outcome === 'failed') {
    recorder.event(Jobs, job, { type: 'Warning', reason: ending.reason, message: ending.message });
    return;
  }
  if ((status.succeeded ?? 0) > (job.spec.completions ?? Infinity)) {
    const message = 'Too many succeeded pods running after completion count reached';
    recorder.event(Jobs, job, { type: 'Warning', reason: 'TooManySucceededPods', message });
  }
  recorder.event(Jobs, job, { type: 'Normal', reason: 'Completed', message: 'Job completed' });
}
