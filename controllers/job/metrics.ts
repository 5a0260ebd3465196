import type { Cached, Job, JobStatus, Pod } from '../../pkg/api/index.ts';
import { isPodFinished } from '../../pkg/pods/index.ts';
import { defineCounter, defineHistogram, exponentialBuckets, type MetricsRegistry } from '../../pkg/metrics/index.ts';
import type { Ending } from './conditions.ts';
import { countIndexes, parseIndexList } from './index-list.ts';
import { isTracked } from './job-pods.ts';
import { hasBackoffPerIndex, indexCount, isIndexed } from './job-spec.ts';
import type { PodsPlan } from './scaling.ts';
import type { Assessment } from './assess.ts';

/** Called by the controller. */
export type JobMetrics = ReturnType<typeof createJobMetrics>;

/** The values of the label `action`. */
const actions = {
  leave: 'reconciling',
  end: 'reconciling',
  keep: 'tracking',
  wait: 'pods_created',
  create: 'pods_created',
  remove: 'pods_deleted',
} as const satisfies Record<PodsPlan['kind'], string>;

/** The metrics, with the names and labels of the Go binary. */
function defineSeries(registry: MetricsRegistry) {
  const perSync = ['completion_mode', 'result', 'action'] as const;
  return {
    duration: defineHistogram(registry, {
      name: 'job_controller_job_sync_duration_seconds',
      help: 'The time it took to sync a job',
      labels: perSync,
      buckets: exponentialBuckets(0.004, 2, 15),
    }),
    syncs: defineCounter(registry, {
      name: 'job_controller_job_syncs_total',
      help: 'The number of job syncs',
      labels: perSync,
    }),
    finished: defineCounter(registry, {
      name: 'job_controller_jobs_finished_total',
      help: 'The number of finished jobs',
      labels: ['completion_mode', 'result', 'reason'],
    }),
    external: defineCounter(registry, {
      name: 'job_controller_jobs_by_external_controller_total',
      help: 'The number of Jobs managed by an external controller',
      labels: ['controller_name'],
    }),
    podsFinished: defineCounter(registry, {
      name: 'job_controller_job_pods_finished_total',
      help: 'The number of finished Pods that are fully tracked',
      labels: ['completion_mode', 'result'],
    }),
    failuresByAction: defineCounter(registry, {
      name: 'job_controller_pod_failures_handled_by_failure_policy_total',
      help: 'The number of failed Pods by the action of the failure policy rule that they matched',
      labels: ['action'],
    }),
    trackedPods: defineCounter(registry, {
      name: 'job_controller_terminated_pods_tracking_finalizer_total',
      help: 'The number of terminated pods that got (add) or lost (delete) the finalizer batch.kubernetes.io/job-tracking',
      labels: ['event'],
    }),
    indexesFinished: defineCounter(registry, {
      name: 'job_controller_job_finished_indexes_total',
      help: 'The number of finished indexes, by status and by whether the backoffLimit is global or perIndex',
      labels: ['status', 'backoffLimit'],
    }),
    podsCreated: defineCounter(registry, {
      name: 'job_controller_job_pods_creation_total',
      help: 'The number of Pods created by the Job controller, by the reason for their creation and by its success',
      labels: ['reason', 'status'],
    }),
    staleSkips: defineCounter(registry, {
      name: 'job_controller_stale_sync_skips_total',
      help: 'Total number of Job syncs skipped due to a stale watch cache',
      labels: ['group', 'resource'],
    }),
  };
}

export function createJobMetrics(registry: MetricsRegistry) {
  const series = defineSeries(registry);
  for (const event of ['add', 'delete']) series.trackedPods.with({ event });
  return {
    synced(job: Cached<Job>, plan: PodsPlan['kind'], result: 'success' | 'error', seconds: number): void {
      const labels = { completion_mode: modeOf(job), result, action: actions[plan] };
      series.duration.with(labels).observe(seconds);
      series.syncs.with(labels).inc();
    },

    finished(job: Cached<Job>, { outcome, reason }: Ending): void {
      series.finished.with({ completion_mode: modeOf(job), result: outcome, reason }).inc();
    },

    managedExternally(controllerName: string): void {
      series.external.with({ controller_name: controllerName }).inc();
    },

    /** The status was written. */
    counted(job: Cached<Job>, before: Cached<JobStatus>, after: Cached<JobStatus>): void {
      const mode = modeOf(job);
      let succeeded = (after.succeeded ?? 0) - (before.succeeded ?? 0);
      if (isIndexed(job)) {
        succeeded = addedIndexes(job, before.completedIndexes, after.completedIndexes);
        const failed = addedIndexes(job, before.failedIndexes, after.failedIndexes);
        const backoffLimit = hasBackoffPerIndex(job) ? 'perIndex' : 'global';
        series.indexesFinished.with({ status: 'succeeded', backoffLimit }).inc(succeeded);
        if (failed > 0) series.indexesFinished.with({ status: 'failed', backoffLimit }).inc(failed);
      }
      const failed = (after.failed ?? 0) - (before.failed ?? 0);
      series.podsFinished.with({ completion_mode: mode, result: 'succeeded' }).inc(Math.max(0, succeeded));
      series.podsFinished.with({ completion_mode: mode, result: 'failed' }).inc(Math.max(0, failed));
    },

    failuresJudged(verdicts: readonly string[]): void {
      for (const action of verdicts) series.failuresByAction.with({ action }).inc();
    },

    /** A pod was added, updated or deleted. */
    podChanged(before: Cached<Pod> | undefined, after: Cached<Pod> | undefined): void {
      const was = before !== undefined && isPodFinished(before) && isTracked(before);
      const is = after !== undefined && isPodFinished(after) && isTracked(after);
      if (was !== is) series.trackedPods.with({ event: is ? 'add' : 'delete' }).inc();
    },

    podsCreated(assessment: Assessment, succeeded: number, failed: number): void {
      const reason = creationReason(assessment);
      if (succeeded > 0) series.podsCreated.with({ reason, status: 'succeeded' }).inc(succeeded);
      if (failed > 0) series.podsCreated.with({ reason, status: 'failed' }).inc(failed);
    },

    skippedStale(group: string, resource: string): void {
      series.staleSkips.with({ group, resource }).inc();
    },
  };
}

function modeOf(job: Cached<Job>): string {
  return isIndexed(job) ? 'Indexed' : 'NonIndexed';
}

/** The number of indexes added to the list. Indexes that the Job no longer has do not count. */
function addedIndexes(job: Cached<Job>, before: string | undefined, after: string | undefined): number {
  if (before === after) return 0;
  const count = (text: string | undefined): number => countIndexes(parseIndexList(text, indexCount(job)));
  return Math.max(0, count(after) - count(before));
}

function creationReason({ job, failed, terminating }: Assessment): string {
  if (job.spec.podReplacementPolicy === 'Failed' && failed > 0) return 'recreate_failed';
  return failed > 0 || terminating > 0 ? 'recreate_terminating_or_failed' : 'new';
}
