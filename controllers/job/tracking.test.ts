import { describe, expect, test } from 'vitest';

import { Jobs, type Cached, type JobSpec, type JobStatus, type Pod } from '../../pkg/api/index.ts';
import { frozen, job } from '../../test/support/builders.ts';
import { jobPod, jobPodTime, type DescribedJobPod } from '../../test/support/job-pods.ts';
import { assess } from './assess.ts';
import { computeProgress } from './progress.ts';
import { planPods } from './scaling.ts';
import { countReleased, isStatusCurrent, planTracking, type TrackingPlan } from './tracking.ts';

const nowMs = Date.parse(jobPodTime) + 60_000;

interface Input {
  readonly spec?: Partial<JobSpec>;
  readonly status?: JobStatus;
  readonly pods: readonly DescribedJobPod[];
  readonly deleting?: boolean;
}

function tracked({ spec = {}, status = {}, pods, deleting = false }: Input): TrackingPlan {
  const metadata = deleting ? { deletionTimestamp: jobPodTime } : {};
  const owner = frozen(job({ spec, status, metadata }));
  const own = pods.map((pod) => jobPod(owner, { name: pod.name ?? 'pod', ...pod }));
  const assessment = assess({ job: owner, pods: own, streak: { failures: 0, lastFailureMs: 0 }, nowMs });
  const plan = planPods(assessment);
  const deleted = plan.kind === 'end' || plan.kind === 'remove' ? plan.pods.length : 0;
  const outcome = { created: 0, deleted, deletedReady: 0, error: undefined };
  return planTracking(assessment, computeProgress(assessment, plan, outcome, { clearsStartTime: true }));
}

const uid = (name: string): string => `uid-pod-default-${name}`;
const names = (pods: readonly Cached<Pod>[]): string[] => pods.map(({ metadata }) => metadata.name).sort();
const ignore1 = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } }] };
const perIndex = {
  completionMode: 'Indexed',
  completions: 3,
  parallelism: 3,
  backoffLimitPerIndex: 2,
  backoffLimit: 99,
};

const rows: (Input & { name: string; succeeded?: string[]; failed?: string[]; release: string[]; counts?: object })[] =
  [
    {
      name: 'records ended pods and ignores running pods',
      spec: { completions: 9, parallelism: 9 },
      pods: [{ name: 'a', phase: 'Succeeded' }, { name: 'b', phase: 'Failed' }, { name: 'c' }],
      succeeded: ['a'],
      failed: ['b'],
      release: ['a', 'b'],
    },
    {
      name: 'records a terminating pod as failed',
      spec: { completions: 9 },
      pods: [{ name: 'a', deleting: true }],
      failed: ['a'],
      release: ['a'],
    },
    {
      name: 'waits for the end of a terminating pod with podReplacementPolicy Failed',
      spec: { completions: 9, podReplacementPolicy: 'Failed' },
      pods: [{ name: 'a', deleting: true }],
      release: [],
    },
    {
      name: 'releases recorded pods again, without recording them again',
      spec: { completions: 9 },
      status: { uncountedTerminatedPods: { succeeded: [uid('a')] } },
      pods: [{ name: 'a', phase: 'Succeeded' }],
      succeeded: ['a'],
      release: ['a'],
    },
    {
      name: 'counts recorded pods that are no longer tracked, or gone',
      spec: { completions: 9 },
      status: { succeeded: 4, failed: 2, uncountedTerminatedPods: { succeeded: [uid('a')], failed: [uid('gone')] } },
      pods: [{ name: 'a', phase: 'Succeeded', tracked: false }],
      release: [],
      counts: { succeeded: 5, failed: 3 },
    },
    {
      name: 'keeps a pod in its list',
      spec: { completions: 9 },
      status: { uncountedTerminatedPods: { failed: [uid('a')] } },
      pods: [{ name: 'a', phase: 'Succeeded', deleting: true }],
      failed: ['a'],
      release: ['a'],
    },
    {
      name: 'releases an ignored failure without recording it',
      spec: { completions: 9, podFailurePolicy: ignore1 },
      pods: [{ name: 'a', phase: 'Failed', exitCode: 1 }],
      release: ['a'],
    },
    {
      name: 'records running pods as failed when the Job fails',
      spec: { completions: 9, parallelism: 9, backoffLimit: 0 },
      pods: [{ name: 'a', phase: 'Failed' }, { name: 'b' }, { name: 'c', phase: 'Succeeded' }],
      succeeded: ['c'],
      failed: ['a', 'b'],
      release: ['a', 'b', 'c'],
    },
    {
      name: 'releases running pods uncounted when the Job succeeds early',
      spec: {
        completionMode: 'Indexed',
        completions: 2,
        parallelism: 2,
        successPolicy: { rules: [{ succeededCount: 1 }] },
      },
      pods: [
        { name: 'a', phase: 'Succeeded', index: 1 },
        { name: 'b', index: 0 },
      ],
      release: ['a', 'b'],
      counts: { succeeded: 1, completedIndexes: '1' },
    },
    {
      name: 'releases all pods of a terminating Job, and counts ended pods',
      deleting: true,
      spec: { completions: 9 },
      pods: [{ name: 'a' }, { name: 'b', phase: 'Failed' }],
      failed: ['b'],
      release: ['a', 'b'],
    },
    {
      name: 'counts indexes without recording uids',
      spec: { completionMode: 'Indexed', completions: 9, parallelism: 9 },
      status: { completedIndexes: '0', succeeded: 1 },
      pods: [
        { name: 'a', phase: 'Succeeded', index: 1 },
        { name: 'b', phase: 'Succeeded', index: 0 },
      ],
      release: ['a', 'b'],
      counts: { succeeded: 2, completedIndexes: '0,1' },
    },
    {
      name: 'releases pods of indexes that the Job no longer has, uncounted',
      spec: { completionMode: 'Indexed', completions: 1, parallelism: 1 },
      pods: [
        { name: 'a', phase: 'Failed', index: 1 },
        { name: 'b', phase: 'Succeeded', index: 2 },
        { name: 'c', phase: 'Failed' },
      ],
      release: ['a', 'b', 'c'],
      counts: { succeeded: 0, completedIndexes: '' },
    },
    {
      name: 'keeps the last failed pod of an index until there is a new pod',
      spec: perIndex,
      pods: [
        { name: 'waiting', phase: 'Failed', index: 0 },
        { name: 'replaced', phase: 'Failed', index: 1 },
        { name: 'new', index: 1 },
      ],
      failed: ['replaced'],
      release: ['replaced'],
      counts: { failedIndexes: '' },
    },
  ];

describe('planTracking', () => {
  for (const { name, succeeded = [], failed = [], release, counts = {}, ...input } of rows) {
    test(name, () => {
      const plan = tracked(input);
      expect(plan.status.uncountedTerminatedPods).toEqual({ succeeded: succeeded.map(uid), failed: failed.map(uid) });
      expect(names(plan.release)).toEqual(release);
      expect(plan.status).toMatchObject(counts);
      expect(plan.isComplete).toBe(true);
    });
  }

  const many = (count: number, phase: 'Succeeded' | 'Failed'): DescribedJobPod[] =>
    Array.from({ length: count }, (_, i) => ({ name: `${phase.toLowerCase()}-${String(i)}`, phase }));

  test('records and releases 500 pods at a time', () => {
    const spec = { completions: 2000, backoffLimit: 2000 };
    const plan = tracked({ spec, pods: [...many(400, 'Succeeded'), ...many(400, 'Failed')] });
    expect(plan.status.uncountedTerminatedPods?.succeeded).toHaveLength(400);
    expect(plan.status.uncountedTerminatedPods?.failed).toHaveLength(100);
    expect(plan.release).toHaveLength(500);
    expect(plan.isComplete).toBe(false);
  });

  test('releases the pods of a full list before it records more', () => {
    const pods = many(700, 'Succeeded');
    const noted = pods.slice(200).map(({ name = '' }) => uid(name));
    const status = { uncountedTerminatedPods: { succeeded: noted } };
    const plan = tracked({ spec: { completions: 2000 }, status, pods });
    expect(plan.release.map(({ metadata }) => metadata.uid)).toEqual(noted);
    expect(plan.status.uncountedTerminatedPods?.succeeded).toEqual(noted);
    expect(plan.isComplete).toBe(false);
  });

  test('announces the ending in the same write as the recorded pods', () => {
    const { status, failureActions } = tracked({
      spec: {
        backoffLimit: 0,
        podFailurePolicy: { rules: [{ action: 'Count', onExitCodes: { operator: 'In', values: [1] } }] },
      },
      pods: [{ name: 'a', phase: 'Failed' }],
    });
    expect(status.conditions?.map(({ type }) => type)).toEqual(['FailureTarget']);
    expect(failureActions).toEqual(['Count']);
  });
});

describe('countReleased', () => {
  test('moves the uids of released pods into the counters', () => {
    const status = { succeeded: 1, failed: 1, uncountedTerminatedPods: { succeeded: ['a', 'b'], failed: ['c', 'd'] } };
    expect(countReleased(status, new Set(['b', 'c', 'z']))).toEqual({
      succeeded: 2,
      failed: 2,
      uncountedTerminatedPods: { succeeded: ['b'], failed: ['c'] },
    });
  });
});

describe('isStatusCurrent', () => {
  const rowsOfStatus: { name: string; shown: JobStatus; status: JobStatus; current: boolean }[] = [
    {
      name: 'omitted zeros and empty lists are equal',
      shown: { ready: 0, terminating: 0, uncountedTerminatedPods: {} },
      status: {
        active: 0,
        succeeded: 0,
        failed: 0,
        completedIndexes: '',
        conditions: [],
        ready: 0,
        terminating: 0,
        uncountedTerminatedPods: { succeeded: [], failed: [] },
      },
      current: true,
    },
    { name: 'a first zero of ready is a change', shown: {}, status: { ready: 0 }, current: false },
    { name: 'an empty list of failed indexes is a change', shown: {}, status: { failedIndexes: '' }, current: false },
    { name: 'a new count is a change', shown: { active: 1 }, status: { active: 2 }, current: false },
  ];
  for (const { name, shown, status, current } of rowsOfStatus) {
    test(name, () => expect(isStatusCurrent(shown, status)).toBe(current));
  }

  test(`compares with the status of a ${Jobs.kind} that has none yet`, () => {
    expect(isStatusCurrent(undefined, {})).toBe(true);
  });
});
