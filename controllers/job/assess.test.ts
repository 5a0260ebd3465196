import { describe, expect, test } from 'vitest';

import type { JobSpec, JobStatus } from '../../pkg/api/index.ts';
import { frozen, job } from '../../test/support/builders.ts';
import { jobPod, jobPodTime, type DescribedJobPod } from '../../test/support/job-pods.ts';
import { assess, type Assessment } from './assess.ts';

const nowMs = Date.parse(jobPodTime) + 60_000;
const startTime = jobPodTime;

function assessed(spec: Partial<JobSpec>, status: JobStatus, pods: readonly DescribedJobPod[]): Assessment {
  const owner = frozen(job({ spec, status }));
  return assess({
    job: owner,
    pods: pods.map((pod) => jobPod(owner, pod)),
    streak: { failures: 0, lastFailureMs: 0 },
    nowMs,
  });
}

describe('counts', () => {
  test('include newly ended pods', () => {
    const status = { succeeded: 2, failed: 1, uncountedTerminatedPods: { succeeded: ['a', 'b'], failed: ['c'] } };
    const pods: DescribedJobPod[] = [
      { phase: 'Succeeded' },
      { phase: 'Failed' },
      { phase: 'Succeeded', tracked: false },
      { phase: 'Failed', tracked: false },
      { phase: 'Running' },
      { phase: 'Running', ready: false },
      { phase: 'Pending' },
      { phase: 'Running', deleting: true },
    ];
    // A pod that was deleted while running has failed, unless the Job replaces only ended pods.
    expect(assessed({}, status, pods)).toMatchObject({ succeeded: 5, failed: 4, ready: 1, terminating: 1 });
    const waiting = assessed({ podReplacementPolicy: 'Failed' }, status, pods);
    expect(waiting).toMatchObject({ failed: 3, terminating: 1 });
    expect(waiting.activePods).toHaveLength(3);
  });

  test('do not include pods in the lists of the status', () => {
    const owner = frozen(job());
    const [ok, bad] = [jobPod(owner, { phase: 'Succeeded' }), jobPod(owner, { phase: 'Failed' })];
    const uncountedTerminatedPods = { succeeded: [ok.metadata.uid], failed: [bad.metadata.uid] };
    const noted = frozen(job({ status: { uncountedTerminatedPods } }));
    const result = assess({ job: noted, pods: [ok, bad], streak: { failures: 0, lastFailureMs: 0 }, nowMs });
    expect(result).toMatchObject({ succeeded: 1, failed: 1, newlySucceeded: [], newlyFailed: [] });
  });

  test('do not include failures that the policy ignores', () => {
    const onExitCodes = { operator: 'In', values: [1] };
    const podFailurePolicy = { rules: [{ action: 'Ignore', onExitCodes }] };
    const { failed, newlyFailed } = assessed({ podFailurePolicy }, {}, [
      { phase: 'Failed' },
      { phase: 'Failed', exitCode: 2 },
    ]);
    expect(failed).toBe(1);
    expect(newlyFailed).toHaveLength(2);
  });

  test('of an indexed Job include only its indexes', () => {
    const spec = { completionMode: 'Indexed', completions: 3, parallelism: 3 };
    const pods: DescribedJobPod[] = [
      { phase: 'Succeeded', index: 1 },
      { phase: 'Succeeded', index: 1 },
      { phase: 'Succeeded', index: 3 },
      { phase: 'Succeeded' },
      { phase: 'Failed', index: 0 },
      { phase: 'Failed', index: 9 },
    ];
    const result = assessed(spec, { completedIndexes: '0,4-6', succeeded: 4 }, pods);
    expect(result).toMatchObject({ succeeded: 2, failed: 1 });
  });
});

const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 };
const perIndex = { ...indexed, backoffLimitPerIndex: 0, backoffLimit: 2 ** 31 - 1 };
const failJob = { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] };
const announced = (type: string): JobStatus => ({
  conditions: [{ type, status: 'True', reason: 'Why', message: 'because' }],
});

const endings: {
  name: string;
  spec?: Partial<JobSpec>;
  status?: JobStatus;
  pods?: DescribedJobPod[];
  expected: string | undefined;
}[] = [
  { name: 'is open while pods run', pods: [{}], expected: undefined },
  {
    name: 'is open at the back-off limit',
    spec: { backoffLimit: 2 },
    status: { failed: 1 },
    pods: [{ phase: 'Failed' }],
    expected: undefined,
  },
  {
    name: 'is failure beyond the back-off limit',
    spec: { backoffLimit: 2 },
    status: { failed: 2 },
    pods: [{ phase: 'Failed' }],
    expected: 'failed BackoffLimitExceeded: Job has reached the specified backoff limit',
  },
  {
    name: 'is failure when containers restart too often',
    spec: { backoffLimit: 3, template: { spec: { containers: [], restartPolicy: 'OnFailure' } } },
    pods: [{ restarts: 1 }, { restarts: 2 }],
    expected: 'failed BackoffLimitExceeded: Job has reached the specified backoff limit',
  },
  {
    name: 'is open when containers restart less often',
    spec: { backoffLimit: 4, template: { spec: { containers: [], restartPolicy: 'OnFailure' } } },
    pods: [{ restarts: 1 }, { restarts: 2 }],
    expected: undefined,
  },
  {
    name: 'is failure at the first restart if none is allowed',
    spec: { backoffLimit: 0, template: { spec: { containers: [], restartPolicy: 'OnFailure' } } },
    pods: [{ restarts: 1 }],
    expected: 'failed BackoffLimitExceeded: Job has reached the specified backoff limit',
  },
  {
    name: 'is failure at the deadline',
    spec: { activeDeadlineSeconds: 60 },
    status: { startTime },
    expected: 'failed DeadlineExceeded: Job was active longer than specified deadline',
  },
  {
    name: 'is open before the deadline',
    spec: { activeDeadlineSeconds: 61 },
    status: { startTime },
    expected: undefined,
  },
  {
    name: 'is open beyond the deadline while suspended',
    spec: { activeDeadlineSeconds: 1, suspend: true },
    status: { startTime },
    expected: undefined,
  },
  {
    name: 'is failure by the pod failure policy below the backoff limit',
    spec: { backoffLimit: 0, podFailurePolicy: failJob },
    pods: [{ phase: 'Failed', exitCode: 42, name: 'p' }],
    expected:
      'failed PodFailurePolicy: Container app for pod default/p failed with exit code 42 matching FailJob rule at index 0',
  },
  {
    name: 'is failure when too many indexes failed',
    spec: { ...perIndex, maxFailedIndexes: 1 },
    pods: [
      { phase: 'Failed', index: 0 },
      { phase: 'Failed', index: 1 },
    ],
    expected: 'failed MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes',
  },
  {
    name: 'is open while an index runs',
    spec: perIndex,
    status: { completedIndexes: '1' },
    pods: [{ phase: 'Failed', index: 0 }, { index: 2 }],
    expected: undefined,
  },
  {
    name: 'is failure once every index has ended and one failed',
    spec: perIndex,
    status: { completedIndexes: '1,2' },
    pods: [{ phase: 'Failed', index: 0 }],
    expected: 'failed FailedIndexes: Job has failed indexes',
  },
  {
    name: 'is success when the success policy is met',
    spec: { ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } },
    pods: [{ phase: 'Succeeded', index: 2 }],
    expected: 'succeeded SuccessPolicy: Matched rules at index 0',
  },
  {
    name: 'is failure if both policies are met',
    spec: { ...indexed, backoffLimit: 0, successPolicy: { rules: [{ succeededCount: 1 }] } },
    pods: [
      { phase: 'Succeeded', index: 2 },
      { phase: 'Failed', index: 1 },
    ],
    expected: 'failed BackoffLimitExceeded: Job has reached the specified backoff limit',
  },
  { name: 'is the failure that was announced', status: announced('FailureTarget'), expected: 'failed Why: because' },
  {
    name: 'is the announced success although pods failed since',
    spec: { backoffLimit: 0 },
    status: announced('SuccessCriteriaMet'),
    pods: [{ phase: 'Failed' }],
    expected: 'succeeded Why: because',
  },
];

describe('the end of a Job', () => {
  for (const { name, spec = {}, status = {}, pods = [], expected } of endings) {
    test(name, () => {
      const { ending } = assessed(spec, status, pods);
      expect(ending && `${ending.outcome} ${ending.reason}: ${ending.message}`).toBe(expected);
    });
  }
});

describe('the start of a Job', () => {
  test('is now, unless it has started or is suspended', () => {
    expect(assessed({}, {}, []).startTime).toBe('2026-01-01T00:01:00Z');
    expect(assessed({}, { startTime }, []).startTime).toBe(startTime);
    expect(assessed({ suspend: true }, {}, []).startTime).toBeUndefined();
  });
});

describe('the indexes of a Job', () => {
  const failures = (count: number): Record<string, string> => ({
    'batch.kubernetes.io/job-index-failure-count': String(count),
  });

  test('cannot both succeed and fail: the recorded result counts, otherwise success', () => {
    const pods: DescribedJobPod[] = [
      { phase: 'Failed', index: 0 },
      { phase: 'Succeeded', index: 1 },
      { phase: 'Failed', index: 2 },
      { phase: 'Succeeded', index: 2 },
    ];
    const { indexes } = assessed(perIndex, { completedIndexes: '0', failedIndexes: '1' }, pods);
    expect(indexes).toMatchObject({
      succeeded: [
        { first: 0, last: 0 },
        { first: 2, last: 2 },
      ],
      failed: [{ first: 1, last: 1 }],
    });
  });

  test('keep the last failed pod of each index that needs a new pod', () => {
    const spec = { ...perIndex, backoffLimitPerIndex: 5, completions: 4 };
    const pods: DescribedJobPod[] = [
      { phase: 'Failed', index: 0, annotations: failures(1), endedAt: 9, name: 'older' },
      { phase: 'Failed', index: 0, annotations: failures(2), endedAt: 9, name: 'last' },
      { phase: 'Failed', index: 1, annotations: failures(1) },
      { phase: 'Running', index: 1 },
      { phase: 'Failed', index: 2, annotations: failures(5) },
      { phase: 'Failed', index: 3, tracked: false },
    ];
    const { indexes } = assessed(spec, {}, pods);
    const kept = [...(indexes?.toReplace ?? [])].map(([index, pod]) => [index, pod.metadata.name]);
    expect(kept).toEqual([[0, 'last']]);
  });
});
