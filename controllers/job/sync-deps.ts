import { compileSelector, Jobs, type Job, type Pod } from '../../pkg/api/index.ts';
import { createClaims, PendingWrites, type Claims, type ControllerContext } from '../../pkg/controller/index.ts';
import type { Informer } from '../../informers/index.ts';
import type { SyncDeps } from './apply-sync.ts';
import { FailureStreaks } from './failure-streaks.ts';
import { trackingFinalizer } from './job-pods.ts';
import { createJobMetrics } from './metrics.ts';

/** What a sync needs besides the Job: the clients, caches and state that all syncs share. */
export function createSyncDeps(
  context: ControllerContext,
  { name, jobs, pods }: { readonly name: string; readonly jobs: Informer<Job>; readonly pods: Informer<Pod> },
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

/** Which pods belong to which Job. Pods lose the finalizer with the Job that releases them. */
export function createJobClaims(
  { control, pendingPods }: Pick<SyncDeps, 'control' | 'pendingPods'>,
  { jobs, pods }: { readonly jobs: Informer<Job>; readonly pods: Informer<Pod> },
): Claims<Job, Pod> {
  return createClaims<Job, Pod>({
    client: control.client,
    owners: jobs,
    dependents: pods,
    selectorOf: ({ spec }) => compileSelector(spec.selector),
    requiredLabelsOf: ({ spec }) => spec.selector?.matchLabels ?? {},
    written: pendingPods,
    finalizer: trackingFinalizer,
  });
}
