import { copyOf, Jobs, keyOf, type Cached, type Job, type JobStatus } from '../../pkg/api/index.ts';
import type { EventRecorder, NewEvent } from '../../pkg/events/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { applyPods, releasePods, writeStatus, type ApplyDeps } from './apply.ts';
import { assess, type Assessment, type Snapshot } from './assess.ts';
import { continueStreak, type FailureStreak } from './backoff.ts';
import { computeFinished } from './completion.ts';
import { announcedEnding, withAnnouncement, type Ending } from './conditions.ts';
import { computeProgress, type Progress, type ProgressOptions } from './progress.ts';
import { planPods, type PodsPlan } from './scaling.ts';
import { countReleased, isStatusCurrent, planTracking, trackedUids, type TrackingPlan } from './tracking.ts';

export interface SyncDeps extends ApplyDeps, ProgressOptions {
  readonly clock: Clock;
  /** Told once the status has taken note of failures: from then on they count as old. */
  readonly remember: (streak: FailureStreak) => void;
}

/** Failures are replaced in batches too. */
const shortestWaitMs = 1000;

/**
 * One sync: pods are created or deleted, the ends of pods are noted in the status, their finalizers go, and the status
 * counts them. Each write leaves a state from which a new sync finds its way. Gives how soon to look again.
 */
export async function syncJob(snapshot: Snapshot, deps: SyncDeps, signal: AbortSignal): Promise<number | undefined> {
  const startMs = deps.clock.monotonic();
  let assessment = assess(snapshot);
  const plan = planPods(assessment);
  let result: 'success' | 'error' = 'error';
  try {
    const job = await announceEarlySuccess(assessment, deps, signal);
    assessment = { ...assessment, job };
    const outcome = await applyPods(plan, assessment, deps, signal);
    await applyProgress(assessment, computeProgress(assessment, plan, outcome, deps), deps, signal);
    if (outcome.error !== undefined) throw outcome.error;
    result = 'success';
    return againInMs(assessment, plan);
  } finally {
    deps.metrics.synced(snapshot.job, plan.kind, result, (deps.clock.monotonic() - startMs) / 1000);
  }
}

function againInMs({ ending, deadlineInMs }: Assessment, plan: PodsPlan): number | undefined {
  const waits = [
    ...(ending === undefined && deadlineInMs !== undefined ? [deadlineInMs] : []),
    ...(plan.kind === 'wait' ? [Math.max(shortestWaitMs, plan.ms)] : []),
  ];
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/**
 * A Job that succeeds while pods still run deletes them. That must be on record before the first of them goes: to a
 * sync that starts after a crash in between, they would look like failures.
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
  const noted = await writeIfNew(job, tracking.status, deps, signal);
  deps.remember(streakAfter(assessment, tracking));
  deps.metrics.failuresJudged(tracking.failureActions);
  if (progress.suspension !== undefined) recorder.event(Jobs, job, suspensionEvents[progress.suspension]);

  const { released, error } = await releasePods(tracking.release, keyOf(job), deps, signal);
  const counted = countReleased(tracking.status, trackedUids(pods).difference(released));
  const mayFinish = error === undefined && tracking.isComplete;
  const ending = mayFinish ? progress.ending : undefined;
  const finished = ending && computeFinished(job, counted, ending, deps.clock.now());
  await writeIfNew(noted, finished ?? counted, deps, signal);
  if (error !== undefined) throw error;
  if (ending !== undefined && finished !== undefined) announce(job, finished, ending, deps);
}

async function writeIfNew(
  job: Cached<Job>,
  status: JobStatus,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<Cached<Job>> {
  return isStatusCurrent(job.status, status) ? job : writeStatus(job, status, deps, signal);
}

/** Of the pods that have newly ended, those that this sync took note of belong to the past now. */
function streakAfter({ streak, newlySucceeded, newlyFailed }: Assessment, { release }: TrackingPlan): FailureStreak {
  const noted = new Set(release);
  return continueStreak(
    streak,
    newlySucceeded.filter((pod) => noted.has(pod)),
    newlyFailed.filter((pod) => noted.has(pod)),
  );
}

const suspensionEvents: Readonly<Record<NonNullable<Progress['suspension']>, NewEvent>> = {
  suspended: { type: 'Normal', reason: 'Suspended', message: 'Job suspended' },
  resumed: { type: 'Normal', reason: 'Resumed', message: 'Job resumed' },
};

function announce(job: Cached<Job>, status: JobStatus, ending: Ending, { control, metrics }: SyncDeps): void {
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
