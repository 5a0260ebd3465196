import { describe, expect, test } from 'vitest';

import type { JobSpec, JobStatus } from '../../pkg/api/index.ts';
import { frozen, job } from '../../test/support/builders.ts';
import { jobPod, jobPodTime, type DescribedJobPod } from '../../test/support/job-pods.ts';
import { assess } from './assess.ts';
import { planPods } from './scaling.ts';

const nowMs = Date.parse(jobPodTime) + 60_000;
const noStreak = { failures: 0, lastFailureMs: 0 };
const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 4 };
const perIndex = { ...indexed, backoffLimitPerIndex: 3 };
const many = (count: number, pod: DescribedJobPod = {}): DescribedJobPod[] => Array.from({ length: count }, () => pod);
const indexes = (...list: number[]): DescribedJobPod[] => list.map((index) => ({ index }));
const replaceFailed = { podReplacementPolicy: 'Failed' };

interface Row {
  readonly name: string;
  readonly spec?: Partial<JobSpec>;
  readonly status?: JobStatus;
  readonly pods?: readonly DescribedJobPod[];
  readonly streak?: { readonly failures: number; readonly lastFailureMs: number };
  readonly deleting?: boolean;
  readonly expected: string;
}

const rows: Row[] = [
  { name: 'creates the missing pods', spec: { completions: 5, parallelism: 3 }, pods: many(1), expected: 'create 2' },
  {
    name: 'creates no more than the remaining completions',
    spec: { completions: 5, parallelism: 3 },
    status: { succeeded: 4 },
    expected: 'create 1',
  },
  { name: 'keeps the right number', spec: { completions: 5, parallelism: 3 }, pods: many(3), expected: 'keep' },
  { name: 'creates at most 500', spec: { completions: 900, parallelism: 900 }, expected: 'create 500' },
  { name: 'removes surplus pods', spec: { completions: 5, parallelism: 2 }, pods: many(3), expected: 'remove 1' },
  { name: 'removes at most 500', spec: { completions: 900, parallelism: 0 }, pods: many(501), expected: 'remove 500' },
  {
    name: 'removes all while suspended',
    spec: { completions: 5, parallelism: 2, suspend: true },
    pods: many(2),
    expected: 'remove 2',
  },
  { name: 'leaves the pods of a terminating Job', deleting: true, spec: { parallelism: 2 }, expected: 'leave' },
  { name: 'fills a work queue', spec: { completions: undefined, parallelism: 3 }, pods: many(1), expected: 'create 2' },
  {
    name: 'adds no pod to an empty work queue',
    spec: { completions: undefined, parallelism: 3 },
    status: { succeeded: 1 },
    pods: many(1),
    expected: 'keep',
  },
  {
    name: 'ends all pods when the Job ends',
    spec: { backoffLimit: 0 },
    pods: [...many(2), { phase: 'Failed' }],
    expected: 'end 2',
  },
  {
    name: 'replaces terminating pods',
    pods: [{ deleting: true }],
    streak: noStreak,
    spec: { backoffLimit: 9 },
    expected: 'create 1',
  },
  {
    name: 'does not replace terminating pods with podReplacementPolicy Failed',
    spec: replaceFailed,
    pods: [{ deleting: true }],
    expected: 'keep',
  },
  { name: 'waits after failures', streak: { failures: 3, lastFailureMs: nowMs - 15_000 }, expected: 'wait 25000' },
  {
    name: 'continues after the back-off',
    streak: { failures: 3, lastFailureMs: nowMs - 40_000 },
    expected: 'create 1',
  },
  {
    name: 'waits after a new failure',
    pods: [{ phase: 'Failed', endedAt: 55 }],
    expected: 'wait 5000',
  },
  {
    name: 'starts the lowest missing indexes',
    spec: indexed,
    status: { completedIndexes: '1' },
    pods: indexes(2),
    expected: 'create 0,3',
  },
  {
    name: 'removes one of two pods with the same index',
    spec: indexed,
    pods: indexes(0, 0, 1, 2, 3),
    expected: 'remove 1',
  },
  {
    name: 'removes pods whose index the Job does not have',
    spec: { ...indexed, completions: 2, parallelism: 2 },
    pods: indexes(0, 1, 2),
    expected: 'remove 1',
  },
  { name: 'removes pods without an index', spec: indexed, pods: [{}, { index: 0 }], expected: 'remove 1' },
  {
    name: 'does not start the index of a terminating pod with podReplacementPolicy Failed',
    spec: { ...indexed, ...replaceFailed },
    pods: [{ index: 0, deleting: true }, { index: 2 }],
    expected: 'create 1,3',
  },
  { name: 'starts no failed index', spec: perIndex, status: { failedIndexes: '0-2' }, expected: 'create 3' },
  {
    name: 'starts the indexes whose back-off has passed',
    spec: perIndex,
    pods: [{ phase: 'Failed', index: 1, endedAt: 59 }],
    expected: 'create 0,2,3',
  },
  {
    name: 'waits for the first index that may start again',
    spec: { ...perIndex, completions: 2, parallelism: 2 },
    pods: [
      { phase: 'Failed', index: 0, endedAt: 59 },
      { phase: 'Failed', index: 1, endedAt: 53 },
    ],
    expected: 'wait 3000',
  },
];

describe('planPods', () => {
  for (const { name, spec = {}, status = {}, pods = [], streak = noStreak, deleting = false, expected } of rows) {
    test(name, () => {
      const metadata = deleting ? { deletionTimestamp: jobPodTime } : {};
      const owner = frozen(job({ spec, status, metadata }));
      const plan = planPods(assess({ job: owner, pods: pods.map((pod) => jobPod(owner, pod)), streak, nowMs }));
      expect(describePlan(plan)).toBe(expected);
    });
  }

  test('removes the least ready pods first', () => {
    const owner = frozen(job({ spec: { completions: 5, parallelism: 1 } }));
    const pods = [
      jobPod(owner, { name: 'ready' }),
      jobPod(owner, { name: 'new', phase: 'Pending' }),
      jobPod(owner, { name: 'slow', ready: false }),
    ];
    const plan = planPods(assess({ job: owner, pods, streak: noStreak, nowMs }));
    expect(plan.kind === 'remove' && plan.pods.map(({ metadata }) => metadata.name)).toEqual(['new', 'slow']);
  });
});

function describePlan(plan: ReturnType<typeof planPods>): string {
  switch (plan.kind) {
    case 'create': {
      const started = plan.indexes.filter((index) => index !== undefined);
      return `create ${started.length > 0 ? started.join() : String(plan.indexes.length)}`;
    }
    case 'remove':
    case 'end':
      return `${plan.kind} ${String(plan.pods.length)}`;
    case 'wait':
      return `wait ${String(plan.ms)}`;
    default:
      return plan.kind;
  }
}
