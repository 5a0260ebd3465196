import {
  compileSelector,
  Jobs,
  keyOf,
  Pods,
  type Cached,
  type Job,
  type KubeObject,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import {
  applyClaims,
  byController,
  defineSelectorIndex,
  enqueueOwnerOrAdopters,
  orphansByLabel,
  orphansWith,
  PendingWrites,
  planClaims,
  runAll,
  runWorkers,
  selectorOrNone,
  usableSelector,
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
import { syncJob } from './sync.ts';

const name = 'job-controller';

/** Pods of one Job tend to change together: a short wait turns many syncs, and writes of the status, into one. */
const batchPeriodMs = 1000;

const jobsBySelector = defineSelectorIndex<Job>('selector', ({ spec }) => spec.selector?.matchLabels ?? {});

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
    pendingPods: new PendingWrites<Pod>(pods.store, context.clock),
    pendingJobs: new PendingWrites<Job>(jobs.store, context.clock),
    metrics,
  };

  const batched = { add: (key: ObjectKey): void => queue.addAfter(key, batchPeriodMs) };
  const whoMayAdopt = (pod: Cached<Pod>): Iterable<ObjectKey> =>
    jobsBySelector
      .candidates(jobs.store, pod)
      .filter((job) => selectorOrNone(() => compileSelector(job.spec.selector))(pod.metadata.labels))
      .map(keyOf);
  pods.addIndex(byController);
  pods.addIndex(orphansByLabel);
  jobs.addIndex(jobsBySelector.index);
  const handlers = [
    jobs.addHandler(jobHandler()),
    pods.addHandler(enqueueOwnerOrAdopters<Pod>(batched, Jobs, whoMayAdopt)),
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
    if (job === undefined) return forget(key);
    if (externalManagerOf(job) !== undefined) return {};
    if (isFinished(job)) {
      orphans.releaseAllOf(job.metadata.uid);
      return forget(key);
    }
    if (!isSettled(key)) return { requeueAfterMs: batchPeriodMs };
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

  function forget(key: ObjectKey): ReconcileResult {
    streaks.delete(key);
    deps.pendingPods.forget(key);
    deps.pendingJobs.forget(key);
    return {};
  }

  /** Whether the caches show all that earlier syncs of this Job have written. */
  function isSettled(key: ObjectKey): boolean {
    for (const [pending, kind] of [
      [deps.pendingPods, Pods],
      [deps.pendingJobs, Jobs],
    ] as const) {
      if (pending.isSettled(key)) continue;
      metrics.skippedStale(kind.group, kind.resource);
      return false;
    }
    return true;
  }

  /** The Job's pods; undefined if some had to be adopted or let go first. */
  async function claimPods(job: Cached<Job>, signal: AbortSignal): Promise<readonly Cached<Pod>[] | undefined> {
    const { uid, namespace } = job.metadata;
    const candidates: readonly Cached<Pod>[] = [
      ...pods.store.byIndex(byController, uid),
      ...orphansWith<Pod>(pods.store, namespace, job.spec.selector?.matchLabels ?? {}),
    ];
    const isSelected = usableSelector(Jobs, job, () => compileSelector(job.spec.selector));
    const claims = planClaims<Pod>(job, isSelected, candidates);
    if (claims.adopt.length === 0 && claims.release.length === 0) return claims.claimed;
    const onWritten = ({ metadata }: KubeObject): void => deps.pendingPods.wrote(keyOf(job), metadata.resourceVersion);
    const options = { client, ownerKind: Jobs, owner: job, kind: Pods, finalizer: trackingFinalizer, onWritten };
    await applyClaims<Pod>(claims, options, signal);
    return undefined;
  }

  const caches = [jobs, pods, ...handlers];
  const work = { name, context, caches, workers };
  const runJobs = (signal: AbortSignal): Promise<void> => runWorkers({ ...work, queue, reconcile }, signal);
  const runOrphans = (signal: AbortSignal): Promise<void> =>
    runWorkers({ ...work, queue: orphans.queue, reconcile: orphans.reconcile }, signal);
  return { name, run: (signal) => runAll([runJobs, runOrphans], signal) };
}
