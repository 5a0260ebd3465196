import { CronJobs, Jobs, keyOf, type Cached, type CronJob, type Job, type ObjectKey } from '../../pkg/api/index.ts';
import {
  byController,
  enqueueControllerOwner,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import type { Handler } from '../../informers/index.ts';
import { defineHistogram, exponentialBuckets } from '../../pkg/metrics/index.ts';
import type { JobControl } from './apply.ts';
import { planAfterChange, type Clocks } from './start.ts';
import { syncCronJob } from './apply-sync.ts';
import { TimeZone, TimeZones } from './time-zone.ts';

const name = 'cronjob-controller';

/** Requeue delay after a sync on a stale cache. The event that updates the cache usually comes sooner. */
const replanMs = 1000;

export interface CronJobSettings {
  readonly workers: number;
  /** The time zone of CronJobs without a `timeZone`. */
  readonly localTimeZone: () => string;
}

export function createCronJobController(
  context: ControllerContext,
  { workers, localTimeZone }: CronJobSettings,
): Controller {
  const queue = context.queueFor('cronjob');
  const recorder = context.recorderFor(name);
  const cronJobs = context.informers.informerFor(CronJobs);
  const jobs = context.informers.informerFor(Jobs);
  const zones = new TimeZones();
  const clocks: Clocks = {
    zones,
    // Loaded with the first CronJob: loading time zones takes longer than starting the controller.
    get local() {
      return zones.find(localTimeZone()) ?? new TimeZone('UTC');
    },
  };
  const control: JobControl = {
    client: context.clientFor(name),
    recorder,
    pendingJobs: new PendingWrites<Job>(jobs, context.clock),
    pendingStatus: new PendingWrites<CronJob>(cronJobs, context.clock),
    creationSkew: defineHistogram(context.metrics, {
      name: 'cronjob_controller_job_creation_skew_duration_seconds',
      help: 'Time from when a Job was scheduled to run until it was created',
      buckets: exponentialBuckets(1, 2, 10),
    }),
  };

  jobs.addIndex(byController);
  const handlers = [
    cronJobs.addHandler(cronJobHandler()),
    jobs.addHandler(enqueueControllerOwner<Job>(queue, CronJobs)),
  ];

  function cronJobHandler(): Handler<CronJob> {
    return {
      added: (cronJob) => queue.add(keyOf(cronJob)),
      updated(before, after) {
        if (hasSameSchedule(before, after)) return queue.add(keyOf(after));
        // A changed schedule starts no Jobs for times in the past.
        const nowMs = context.clock.now();
        const { events, wakeUpMs } = planAfterChange(after, nowMs, clocks);
        for (const event of events) recorder.event(CronJobs, after, event);
        if (wakeUpMs !== undefined) queue.addAfter(keyOf(after), Math.max(0, wakeUpMs - nowMs));
      },
      deleted: (last) => queue.add(keyOf(last)),
    };
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const cronJob = cronJobs.store.get(key);
    if (cronJob === undefined) return {};
    const owned = jobs.store.byIndex(byController, cronJob.metadata.uid);
    const snapshot = { cronJob, jobs: owned, nowMs: context.clock.now() };
    const result = await syncCronJob(snapshot, { control, clocks }, signal);
    if (result.kind === 'stale') return { requeueAfterMs: replanMs };
    const { wakeUpMs } = result;
    return wakeUpMs === undefined ? {} : { requeueAfterMs: Math.max(0, wakeUpMs - context.clock.now()) };
  }

  const care = { primary: cronJobs.store, ownWrites: [control.pendingJobs, control.pendingStatus] };
  const work = { name, context, queue, reconcile, caches: [cronJobs, jobs, ...handlers], workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}

function hasSameSchedule({ spec: before }: Cached<CronJob>, { spec: after }: Cached<CronJob>): boolean {
  return before.schedule === after.schedule && before.timeZone === after.timeZone;
}
