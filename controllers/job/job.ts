import { Jobs, Pods, type Kind, type ObjectKey } from '../../pkg/api/index.ts';
import {
  runAll,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { exponentialLimiter } from '../../workqueue/index.ts';
import { syncJob } from './apply-sync.ts';
import { openGangs, type Gangs } from './gangs.ts';
import { countTrackedPods, createJobHandler } from './handlers.ts';
import { externalManagerOf, isCompletionModeKnown, isFinished } from './job-spec.ts';
import { createOrphanControl } from './orphans.ts';
import { createJobClaims, createSyncDeps } from './sync-deps.ts';

const name = 'job-controller';

/** The pods of a Job often change together. One sync after this delay replaces many syncs and status writes. */
const batchPeriodMs = 1000;

const unknownMode: NewEvent = {
  type: 'Warning',
  reason: 'UnknownCompletionMode',
  message: 'Skipped Job sync because completion mode is unknown',
};

export function createJobController(context: ControllerContext, workers: number): Controller {
  const rateLimiter = exponentialLimiter<ObjectKey>({ baseMs: 1000, maxMs: 60_000 });
  const queue = context.queueFor<ObjectKey>('job', { rateLimiter });
  const jobs = context.informers.informerFor(Jobs);
  const pods = context.informers.informerFor(Pods);
  const orphans = createOrphanControl(context, name);
  const deps = createSyncDeps(context, { name, jobs, pods });
  const { control, metrics, streaks } = deps;
  const claims = createJobClaims(deps, { jobs, pods });
  const batched = { add: (key: ObjectKey): void => queue.addAfter(key, batchPeriodMs) };
  const handlers = [
    jobs.addHandler(createJobHandler({ queue, batched, metrics, releasePodsOf: orphans.releasePodsOf })),
    pods.addHandler(claims.handler(batched)),
    pods.addHandler(orphans.podHandler),
    pods.addHandler(countTrackedPods(metrics)),
  ];
  let gangs: Gangs;

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const job = jobs.store.get(key);
    if (job === undefined || externalManagerOf(job) !== undefined) return {};
    if (isFinished(job)) {
      orphans.releasePodsOf(job.metadata.uid);
      streaks.forget(key);
      return {};
    }
    if (!isCompletionModeKnown(job)) {
      control.recorder.event(Jobs, job, unknownMode);
      return {};
    }
    const plan = claims.plan(job);
    if (plan.adopt.length > 0 || plan.release.length > 0) {
      await claims.apply(plan, job, signal);
      return { requeueAfterMs: batchPeriodMs }; // sync once the cache has observed these writes
    }
    const podGroup = await gangs.podGroupFor(job, plan.claimed, signal);
    const snapshot = { job, pods: plan.claimed, streak: streaks.of(job, plan.claimed), nowMs: context.clock.now() };
    return { requeueAfterMs: await syncJob(snapshot, { ...deps, podGroup }, signal) };
  }

  const caches = [jobs, pods, ...handlers];
  const work = { name, context, caches, workers };
  const care = {
    primary: jobs.store,
    recheckMs: batchPeriodMs,
    onStale: ({ group, resource }: Kind): void => metrics.skippedStale(group, resource),
    forget: (key: ObjectKey): void => streaks.forget(key),
  };
  const runJobs = async (signal: AbortSignal): Promise<void> => {
    gangs = await openGangs(context, control, signal);
    const ownWrites = [deps.pendingPods, deps.pendingJobs, ...gangs.ownWrites];
    await runWorkers({ ...work, ...care, ownWrites, caches: [...caches, ...gangs.caches], queue, reconcile }, signal);
  };
  const runOrphans = (signal: AbortSignal): Promise<void> => runWorkers({ ...work, ...orphans.work }, signal);
  return { name, run: (signal) => runAll([runJobs, runOrphans], signal) };
}
