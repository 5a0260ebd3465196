import {
  CronJobs,
  formatTime,
  keyOf,
  type Cached,
  type CronJob,
  type CronJobStatus,
  type Job,
} from '../../pkg/api/index.ts';
import { decided } from '../../pkg/controller/index.ts';
import { isNotFound } from '../../pkg/client/index.ts';
import { isActive, reviewActive, selectUnexpected, withoutActive } from './active.ts';
import { applyStatus, createJob, deleteJob, isJobGone, type JobControl } from './apply.ts';
import { endOf, jobNameFor, referenceTo, selectExpired } from './jobs.ts';
import { planStart, type Clocks, type StartPlan } from './start.ts';

export interface Snapshot {
  readonly cronJob: Cached<CronJob>;
  /** All Jobs that the CronJob controls. */
  readonly jobs: readonly Cached<Job>[];
  readonly nowMs: number;
}

export interface SyncDeps {
  readonly control: JobControl;
  readonly clocks: Clocks;
}

export type SyncResult =
  | { readonly kind: 'done'; readonly wakeUpMs: number | undefined }
  /** The cache is stale: nothing was decided. */
  | { readonly kind: 'stale' };

/** The status so far. It is written at the end of the sync, also after an error. */
interface Progress {
  status: Cached<CronJobStatus>;
}

export async function syncCronJob(snapshot: Snapshot, deps: SyncDeps, signal: AbortSignal): Promise<SyncResult> {
  const { cronJob } = snapshot;
  if (!(await reportUnexpected(snapshot, deps.control, signal))) return { kind: 'stale' };
  const progress: Progress = { status: cronJob.status ?? {} };
  let wakeUpMs: number | undefined;
  let failure: { readonly error: unknown } | undefined;
  try {
    wakeUpMs = await advance(snapshot, progress, deps, signal);
  } catch (error) {
    signal.throwIfAborted();
    failure = { error };
  }
  await applyStatus(deps.control, cronJob, progress.status, signal);
  if (failure !== undefined) throw failure.error;
  return { kind: 'done', wakeUpMs };
}

/** Records events for Jobs that are not listed as active. False if the cache is stale. */
async function reportUnexpected(
  { cronJob, jobs }: Snapshot,
  { client, recorder }: JobControl,
  signal: AbortSignal,
): Promise<boolean> {
  const unexpected = selectUnexpected(cronJob.status ?? {}, jobs);
  if (unexpected.length === 0) return true;
  try {
    const live = await client.get(CronJobs, keyOf(cronJob), signal);
    if (live.metadata.uid !== cronJob.metadata.uid) return false;
    if (unexpected.some(({ metadata }) => isActive(live.status ?? {}, metadata.uid))) return false;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
  for (const { metadata } of unexpected) {
    const message = `Saw a job that the controller did not create or forgot: ${metadata.name}`;
    recorder.event(CronJobs, cronJob, { type: 'Warning', reason: 'UnexpectedJob', message });
  }
  return true;
}

async function advance(
  { cronJob, jobs, nowMs }: Snapshot,
  progress: Progress,
  { control, clocks }: SyncDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { recorder } = control;
  for (const { metadata } of selectExpired(cronJob, jobs)) {
    if (!(await deleteJob(control, cronJob, metadata, signal))) continue; // an event was recorded; the next sync retries
    progress.status = withoutActive(progress.status, new Set([metadata.uid]));
  }
  const review = reviewActive(progress.status, jobs);
  progress.status = review.status;
  for (const event of review.events) recorder.event(CronJobs, cronJob, event);
  for (const reference of review.unseen) {
    if (!(await isJobGone(control, reference, signal))) continue;
    const message = `Active job went missing: ${reference.name}`;
    recorder.event(CronJobs, cronJob, { type: 'Normal', reason: 'MissingJob', message });
    progress.status = withoutActive(progress.status, new Set([reference.uid ?? '']));
  }
  const plan = decided(planStart(cronJob, progress.status, nowMs, clocks));
  for (const event of plan.events) recorder.event(CronJobs, cronJob, event);
  await start({ cronJob, jobs, plan, progress }, { control, clocks }, signal);
  return plan.wakeUpMs;
}

interface Start extends Pick<Snapshot, 'cronJob' | 'jobs'> {
  readonly plan: StartPlan;
  readonly progress: Progress;
}

/** Creates the Job that is due. */
async function start(
  { cronJob, jobs, plan, progress }: Start,
  { control, clocks }: SyncDeps,
  signal: AbortSignal,
): Promise<void> {
  const { scheduledMs, replace = false } = plan;
  if (scheduledMs === undefined) return;
  const lastScheduleTime = formatTime(scheduledMs);
  // An earlier process created the Job and stopped before it wrote the status. The Job's name does not prevent a second
  // run: the Job may have finished and been deleted by now.
  const existing = jobs.find(({ metadata }) => metadata.name === jobNameFor(cronJob.metadata.name, scheduledMs));
  if (existing !== undefined) {
    progress.status = endOf(existing) === undefined ? withActive(progress.status, existing) : progress.status;
    progress.status = { ...progress.status, lastScheduleTime };
    return;
  }
  if (replace) await deleteActive(cronJob, progress, control, signal);
  const zone = clocks.zones.find(cronJob.spec.timeZone ?? 'UTC') ?? clocks.local;
  const job = await createJob(control, cronJob, { scheduledMs, zone }, signal);
  if (job === undefined) return;
  progress.status = { ...withActive(progress.status, job), lastScheduleTime };
}

async function deleteActive(
  cronJob: Cached<CronJob>,
  progress: Progress,
  control: JobControl,
  signal: AbortSignal,
): Promise<void> {
  for (const reference of progress.status.active ?? []) {
    if (!(await deleteJob(control, cronJob, reference, signal))) {
      throw new JobNotReplacedError(`could not replace job ${reference.namespace}/${reference.name}`);
    }
    progress.status = withoutActive(progress.status, new Set([reference.uid ?? '']));
  }
}

function withActive(status: Cached<CronJobStatus>, job: Parameters<typeof referenceTo>[0]): Cached<CronJobStatus> {
  if (isActive(status, job.metadata.uid)) return status;
  return { ...status, active: [...(status.active ?? []), referenceTo(job)] };
}

/** An active Job could not be deleted, so that its successor must wait. */
class JobNotReplacedError extends Error {
  override readonly name = 'JobNotReplacedError';
  readonly reason = 'JobNotReplaced';
}
