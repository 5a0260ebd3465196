import {
  compileSelector,
  Jobs,
  keyOf,
  Pods,
  type Cached,
  type Job,
  type Kind,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import {
  createClaims,
  PendingWrites,
  runAll,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import type { Handler } from '../../informers/index.ts';
import { exponentialLimiter } from '../../workqueue/index.ts';
import type { ApplyDeps } from './apply.ts';
import { recallStreak, type FailureStreak } from './backoff.ts';
import { trackingFinalizer } from './job-pods.ts';
import { externalManagerOf, isCompletionModeKnown, isFinished } from './job-spec.ts';
import { createJobMetrics } from './metrics.ts';
import { createOrphanControl } from './orphans.ts';
import { syncJob } from './apply-sync.ts';

const name = 'job-controller';

/** Pods of one Job tend to change together: a short wait turns many syncs, and writes of the status, into one. */
const batchPeriodMs = 1000;

export function createJobController(context: ControllerContext, workers: number): Controller {
  const client = context.clientFor(name);
  const recorder = context.recorderFor(name);
  const metrics = createJobMetrics(context.metrics);
  const queue = context.queueFor<ObjectKey>('job', {
    rateLimiter: exponentialLimiter({ baseMs: 1000, maxMs: 60_000 }),
  });
  const jobs = context.informers.informerFor(Jobs);
  const pods = context.informers.informerFor(Pods);
  const orphans = createOrphanControl(context, name);
  /** What is known of failures beyond what the pods themselves tell: they may be deleted at any time. */
  const streaks = new Map<ObjectKey, { readonly uid: string; readonly streak: FailureStreak }>();
  const clearsStartTime = context.gates.isEnabled('MutableSchedulingDirectivesForSuspendedJobs');
  const deps: ApplyDeps = {
    control: { client, recorder, ownerKind: Jobs },
    pendingPods: new PendingWrites<Pod>(pods, context.clock),
    pendingJobs: new PendingWrites<Job>(jobs, context.clock),
    metrics,
  };

  const batched = { add: (key: ObjectKey): void => queue.addAfter(key, batchPeriodMs) };
  const claims = createClaims<Job, Pod>({
    client,
    owners: jobs,
    dependents: pods,
    selectorOf: ({ spec }) => compileSelector(spec.selector),
    requiredLabelsOf: ({ spec }) => spec.selector?.matchLabels ?? {},
    written: deps.pendingPods,
    finalizer: trackingFinalizer,
  });
  const handlers = [
    jobs.addHandler(jobHandler()),
    pods.addHandler(claims.handler(batched)),
    pods.addHandler(orphans.podHandler),
    pods.addHandler({
      added: (pod) => metrics.podSeen(undefined, pod),
      updated: (before, after) => metrics.podSeen(before, after),
      deleted: (last) => metrics.podSeen(last, undefined),
    }),
  ];

  function jobHandler(): Handler<Job> {
    return {
      added(job) {
        queue.add(keyOf(job));
        const other = externalManagerOf(job);
        if (other !== undefined) metrics.leftToExternal(other);
      },
      updated(before, after) {
        // A new generation is something that a user wants; the rest are our own writes.
        if (before.metadata.generation === after.metadata.generation) batched.add(keyOf(after));
        else queue.add(keyOf(after));
      },
      deleted(last) {
        queue.add(keyOf(last));
        orphans.releaseAllOf(last.metadata.uid);
      },
    };
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const job = jobs.store.get(key);
    if (job === undefined) return {};
    if (externalManagerOf(job) !== undefined) return {};
    if (isFinished(job)) {
      orphans.releaseAllOf(job.metadata.uid);
      streaks.delete(key);
      return {};
    }
    if (!isCompletionModeKnown(job)) {
      const message = 'Skipped Job sync because completion mode is unknown';
      recorder.event(Jobs, job, { type: 'Warning', reason: 'UnknownCompletionMode', message });
      return {};
    }
    const owned = await claimPods(job, signal);
    if (owned === undefined) return { requeueAfterMs: batchPeriodMs }; // decide once the cache shows what they became
    const known = streaks.get(key);
    const streak = known?.uid === job.metadata.uid ? known.streak : recallStreak(job, owned);
    const snapshot = { job, pods: owned, streak, nowMs: context.clock.now() };
    const remember = (now: FailureStreak): void => void streaks.set(key, { uid: job.metadata.uid, streak: now });
    const syncDeps = { ...deps, clock: context.clock, clearsStartTime, remember };
    return { requeueAfterMs: await syncJob(snapshot, syncDeps, signal) };
  }

  /** The Job's pods; undefined if some had to be adopted or released first. */
  async function claimPods(job: Cached<Job>, signal: AbortSignal): Promise<readonly Cached<Pod>[] | undefined> {
    const plan = claims.plan(job);
    if (plan.adopt.length === 0 && plan.release.length === 0) return plan.claimed;
    await claims.apply(plan, job, signal);
    return undefined;
  }

  const caches = [jobs, pods, ...handlers];
  const work = { name, context, caches, workers };
  const care = {
    primary: jobs.store,
    ownWrites: [deps.pendingPods, deps.pendingJobs],
    recheckMs: batchPeriodMs,
    onStale: ({ group, resource }: Kind): void => metrics.skippedStale(group, resource),
    forget: (key: ObjectKey): void => void streaks.delete(key),
  };
  const runJobs = (signal: AbortSignal): Promise<void> => runWorkers({ ...work, ...care, queue, reconcile }, signal);
  const runOrphans = (signal: AbortSignal): Promise<void> =>
    runWorkers({ ...work, queue: orphans.queue, reconcile: orphans.reconcile }, signal);
  return { name, run: (signal) => runAll([runJobs, runOrphans], signal) };
}
