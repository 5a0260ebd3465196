import { describe, expect, test } from 'vitest';

import type { JobSpec, JobStatus } from '../../pkg/api/index.ts';
import { createMetricsRegistry } from '../../pkg/metrics/index.ts';
import { frozen, job } from '../../test/support/builders.ts';
import { jobPod } from '../../test/support/job-pods.ts';
import { createJobMetrics, type JobMetrics } from './metrics.ts';

const owner = frozen(job());
const indexed = { completionMode: 'Indexed', completions: 5 };

async function seriesAfter(use: (metrics: JobMetrics) => void): Promise<string[]> {
  const registry = createMetricsRegistry();
  use(createJobMetrics(registry));
  const lines = (await registry.metrics()).split('\n');
  return lines.filter(
    (line) => line.startsWith('job_controller') && !/_(bucket|sum)\{/.test(line) && !line.endsWith(' 0'),
  );
}

const counted =
  (spec: Partial<JobSpec>, before: JobStatus, after: JobStatus) =>
  (metrics: JobMetrics): void =>
    metrics.counted(frozen(job({ spec })), before, after);

const rows: { name: string; use: (metrics: JobMetrics) => void; expected: string[] }[] = [
  {
    name: 'a sync',
    use: (metrics) => metrics.synced(owner, 'create', 'success', 0.1),
    expected: [
      'job_controller_job_sync_duration_seconds_count{completion_mode="NonIndexed",result="success",action="pods_created"} 1',
      'job_controller_job_syncs_total{completion_mode="NonIndexed",result="success",action="pods_created"} 1',
    ],
  },
  {
    name: 'a Job that finished',
    use: (metrics) => metrics.finished(owner, { outcome: 'failed', reason: 'DeadlineExceeded', message: '' }),
    expected: [
      'job_controller_jobs_finished_total{completion_mode="NonIndexed",result="failed",reason="DeadlineExceeded"} 1',
    ],
  },
  {
    name: 'pods that were counted',
    use: counted({}, { succeeded: 1, failed: 1 }, { succeeded: 3, failed: 2 }),
    expected: [
      'job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"} 2',
      'job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="failed"} 1',
    ],
  },
  {
    name: 'counted indexes that the Job has',
    use: counted(indexed, { completedIndexes: '0,7-9', succeeded: 4 }, { completedIndexes: '0-2', succeeded: 3 }),
    expected: [
      'job_controller_job_finished_indexes_total{status="succeeded",backoffLimit="global"} 2',
      'job_controller_job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 2',
    ],
  },
  {
    name: 'failed indexes',
    use: counted({ ...indexed, backoffLimitPerIndex: 0 }, {}, { failedIndexes: '1,3' }),
    expected: ['job_controller_job_finished_indexes_total{status="failed",backoffLimit="perIndex"} 2'],
  },
  {
    name: 'finished pods that get and lose the finalizer',
    use(metrics) {
      const [running, ended, free] = [
        jobPod(owner),
        jobPod(owner, { phase: 'Failed' }),
        jobPod(owner, { phase: 'Failed', tracked: false }),
      ];
      metrics.podChanged(undefined, running);
      metrics.podChanged(running, ended);
      metrics.podChanged(ended, ended);
      metrics.podChanged(ended, free);
      metrics.podChanged(free, undefined);
    },
    expected: [
      'job_controller_terminated_pods_tracking_finalizer_total{event="add"} 1',
      'job_controller_terminated_pods_tracking_finalizer_total{event="delete"} 1',
    ],
  },
  {
    name: 'failures by action of the policy',
    use: (metrics) => metrics.failuresJudged(['Ignore', 'Ignore']),
    expected: ['job_controller_pod_failures_handled_by_failure_policy_total{action="Ignore"} 2'],
  },
  {
    name: 'a Job managed by an external controller',
    use: (metrics) => metrics.managedExternally('example.com/other'),
    expected: ['job_controller_jobs_by_external_controller_total{controller_name="example.com/other"} 1'],
  },
  {
    name: 'a sync skipped because of a stale cache',
    use: (metrics) => metrics.skippedStale('batch', 'jobs'),
    expected: ['job_controller_stale_sync_skips_total{group="batch",resource="jobs"} 1'],
  },
];

describe('metrics count', () => {
  for (const { name, use, expected } of rows) {
    test(name, async () => expect(await seriesAfter(use)).toEqual(expected));
  }
});
