import { compileSelector, Jobs, Pods, type Job, type Kind, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import {
  createClaims,
  PendingWrites,
  runAll,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import type { Informer } from '../../informers/index.ts';
import { exponentialLimiter } from '../../workqueue/index.ts';
import { syncJob, type SyncDeps } from './apply-sync.ts';
import { FailureStreaks } from './failure-streaks.ts';
import { countTrackedPods, createJobHandler } from './handlers.ts';
import { trackingFinalizer } from './job-pods.ts';
import { externalManagerOf, isCompletionModeKnown, isFinished } from './job-spec.ts';
import { createJobMetrics } from './metrics.ts';
import { createOrphanControl } from './orphans.ts';

const name = 'job-controller';

/** The pods of a Job often change together. One sync after this delay replaces many syncs and status writes. */
const batchPeriodMs = 1000;

export function createJobController(context: ControllerContext, workers: number): Controller {
  const rateLimiter = exponentialLimiter<ObjectKey>({ baseMs: 1000, maxMs: 60_000 });
  const queue = context.queueFor<ObjectKey>('job', { rateLimiter });
  const jobs = context.informers.informerFor(Jobs);
  const pods = context.informers.informerFor(Pods);
  const orphans = createOrphanControl(context, name);
  const deps = createSyncDeps(context, { jobs, pods });
  const { control, metrics, streaks } = deps;
  const claims = createClaims<Job, Pod>({
    client: control.client,
    owners: jobs,
    dependents: pods,
    selectorOf: ({ spec }) => compileSelector(spec.selector),
    requiredLabelsOf: ({ spec }) => spec.selector?.matchLabels ?? {},
    written: deps.pendingPods,
    finalizer: trackingFinalizer,
  });
  const batched = { add: (key: ObjectKey): void => queue.addAfter(key, batchPeriodMs) };
  const handlers = [
    jobs.addHandler(createJobHandler({ queue, batched, metrics, releasePodsOf: orphans.releasePodsOf })),
    pods.addHandler(claims.handler(batched)),
    pods.addHandler(orphans.podHandler),
    pods.addHandler(countTrackedPods(metrics)),
  ];

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const job = jobs.store.get(key);
    if (job === undefined || externalManagerOf(job) !== undefined) return {};
    if (isFinished(job)) {
      orphans.releasePodsOf(job.metadata.uid);
      streaks.forget(key);
      return {};
    }
    if (!isCompletionModeKnown(job)) {
      const message = 'Skipped Job sync because completion mode is unknown';
      control.recorder.event(Jobs, job, { type: 'Warning', reason: 'UnknownCompletionMode', message });
      return {};
    }
    const plan = claims.plan(job);
    if (plan.adopt.length > 0 || plan.release.length > 0) {
      await claims.apply(plan, job, signal);
      return { requeueAfterMs: batchPeriodMs }; // sync once the cache has observed these writes
    }
    const snapshot = { job, pods: plan.claimed, streak: streaks.of(job, plan.claimed), nowMs: context.clock.now() };
    return { requeueAfterMs: await syncJob(snapshot, deps, signal) };
  }

  const work = { name, context, caches: [jobs, pods, ...handlers], workers };
  const care = {
    primary: jobs.store,
    ownWrites: [deps.pendingPods, deps.pendingJobs],
    recheckMs: batchPeriodMs,
    onStale: ({ group, resource }: Kind): void => metrics.skippedStale(group, resource),
    forget: (key: ObjectKey): void => streaks.forget(key),
  };
  const runJobs = (signal: AbortSignal): Promise<void> => runWorkers({ ...work, ...care, queue, reconcile }, signal);
  const runOrphans = (signal: AbortSignal): Promise<void> => runWorkers({ ...work, ...orphans.work }, signal);
  return { name, run: (signal) => runAll([runJobs, runOrphans], signal) };
}

function createSyncDeps(
  context: ControllerContext,
  { jobs, pods }: { readonly jobs: Informer<Job>; readonly pods: Informer<Pod> },
): Omit<SyncDeps, 'streaks'> & { readonly streaks: FailureStreaks } {
  const { clock } = context;
  return {
    control: { client: context.clientFor(name), recorder: context.recorderFor(name), ownerKind: Jobs },
    pendingPods: new PendingWrites<Pod>(pods, clock),
    pendingJobs: new PendingWrites<Job>(jobs, clock),
    metrics: createJobMetrics(context.metrics),
    clock,
    streaks: new FailureStreaks(),
    clearsStartTime: context.gates.isEnabled('MutableSchedulingDirectivesForSuspendedJobs'),
  };
}
