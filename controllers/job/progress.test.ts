import { describe, expect, test } from 'vitest';

import type { JobSpec, JobStatus } from '../../pkg/api/index.ts';
import { frozen, job } from '../../test/support/builders.ts';
import { jobPod, jobPodTime, type DescribedJobPod } from '../../test/support/job-pods.ts';
import { assess } from './assess.ts';
import { computeProgress, type PodsOutcome, type Progress } from './progress.ts';
import { planPods } from './scaling.ts';

const nowMs = Date.parse(jobPodTime) + 60_000;
const now = '2026-01-01T00:01:00Z';
const suspended = { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' };
const resumed = { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' };
const times = { lastProbeTime: now, lastTransitionTime: now };

function progressOf(
  spec: Partial<JobSpec>,
  status: JobStatus,
  pods: readonly DescribedJobPod[],
  more: Partial<PodsOutcome> & { clearsStartTime?: boolean } = {},
): Progress {
  const { clearsStartTime = true, ...outcome } = more;
  const owner = frozen(job({ spec, status }));
  const streak = { failures: 0, lastFailureMs: 0 };
  const assessment = assess({ job: owner, pods: pods.map((pod) => jobPod(owner, pod)), streak, nowMs });
  const nothing = { created: 0, deleted: 0, deletedReady: 0, error: undefined };
  return computeProgress(assessment, planPods(assessment), { ...nothing, ...outcome }, { clearsStartTime });
}

describe('the counts of a Job', () => {
  test('include created and deleted pods', () => {
    const pods: DescribedJobPod[] = [{}, { ready: false }, { deleting: true }];
    expect(progressOf({ completions: 9, parallelism: 9 }, {}, pods, { created: 5 }).status).toMatchObject({
      active: 7,
      ready: 1,
      terminating: 1,
    });
    expect(
      progressOf({ completions: 9, parallelism: 1 }, {}, pods, { deleted: 1, deletedReady: 1 }).status,
    ).toMatchObject({
      active: 1,
      ready: 0,
      terminating: 2,
    });
  });
});

describe('a Job is complete', () => {
  const rows: { name: string; spec: Partial<JobSpec>; pods: DescribedJobPod[]; complete: boolean }[] = [
    { name: 'with its completions', spec: { completions: 1 }, pods: [{ phase: 'Succeeded' }], complete: true },
    { name: 'with 0 completions', spec: { completions: 0 }, pods: [], complete: true },
    { name: 'not with too few completions', spec: { completions: 2 }, pods: [{ phase: 'Succeeded' }], complete: false },
    {
      name: 'not while a pod is active',
      spec: { completions: 1 },
      pods: [{ phase: 'Succeeded' }, {}],
      complete: false,
    },
    {
      name: 'as a work queue with the first success',
      spec: { completions: undefined },
      pods: [{ phase: 'Succeeded' }],
      complete: true,
    },
    {
      name: 'as a work queue not without a success',
      spec: { completions: undefined },
      pods: [{ phase: 'Failed' }],
      complete: false,
    },
    {
      name: 'also while suspended',
      spec: { completions: 1, suspend: true },
      pods: [{ phase: 'Succeeded' }],
      complete: true,
    },
  ];
  for (const { name, spec, pods, complete } of rows) {
    test(name, () => {
      const ending = {
        outcome: 'succeeded',
        reason: 'CompletionsReached',
        message: 'Reached expected number of succeeded pods',
      };
      expect(progressOf(spec, {}, pods).ending).toEqual(complete ? ending : undefined);
    });
  }
});

describe('an ending', () => {
  test('is announced once all active pods are deleted', () => {
    const pods: DescribedJobPod[] = [{ phase: 'Failed' }, {}, {}];
    expect(progressOf({ backoffLimit: 0 }, {}, pods, { deleted: 2 }).ending?.reason).toBe('BackoffLimitExceeded');
    expect(progressOf({ backoffLimit: 0 }, {}, pods, { deleted: 1 }).ending).toBeUndefined();
  });
});

describe('suspension', () => {
  const startTime = jobPodTime;
  const rows = [
    {
      name: 'sets the condition and clears the start time',
      spec: { suspend: true },
      status: { startTime },
      conditions: [{ ...suspended, ...times }],
      startTime: undefined,
      suspension: 'suspended',
    },
    {
      name: 'sets the condition once',
      spec: { suspend: true },
      status: { conditions: [suspended] },
      conditions: [suspended],
      startTime: undefined,
      suspension: undefined,
    },
    {
      name: 'that never was adds no condition',
      spec: {},
      status: { startTime },
      conditions: [],
      startTime,
      suspension: undefined,
    },
    {
      name: 'ends with a new start time',
      spec: {},
      status: { startTime, conditions: [suspended] },
      conditions: [{ ...resumed, ...times }],
      startTime: now,
      suspension: 'resumed',
    },
  ];
  for (const { name, spec, status, suspension, ...shown } of rows) {
    test(name, () => {
      const progress = progressOf(spec, status, []);
      expect(progress.status).toMatchObject(shown);
      expect(progress.suspension).toBe(suspension);
    });
  }

  test('keeps the start time without the gate', () => {
    expect(progressOf({ suspend: true }, { startTime }, [], { clearsStartTime: false }).status.startTime).toBe(
      startTime,
    );
  });
});
