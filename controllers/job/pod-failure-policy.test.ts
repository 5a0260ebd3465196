import { describe, expect, test } from 'vitest';

import type { JobSpec } from '../../pkg/api/index.ts';
import { frozen, job } from '../../test/support/builders.ts';
import { jobPod, type DescribedJobPod } from '../../test/support/job-pods.ts';
import { countsAsFailure, judgeFailure, type FailureVerdict } from './pod-failure-policy.ts';

type Rules = NonNullable<JobSpec['podFailurePolicy']>['rules'];

const disrupted = [{ type: 'DisruptionTarget', status: 'True' }];
const onExit = (
  action: string,
  values: number[],
  operator = 'In',
  containerName?: string,
): NonNullable<Rules>[number] => ({
  action,
  onExitCodes: { operator, values, ...(containerName !== undefined && { containerName }) },
});
const onCondition = (action: string, type = 'DisruptionTarget', status = 'True'): NonNullable<Rules>[number] => ({
  action,
  onPodConditions: [{ type, status }],
});

const rows: { name: string; rules?: Rules; pod: DescribedJobPod; expected: FailureVerdict }[] = [
  { name: 'returns no action without a policy', pod: { exitCode: 1 }, expected: { action: undefined } },
  {
    name: 'returns no action if no rule matches',
    rules: [onExit('FailJob', [2]), onCondition('Ignore')],
    pod: { exitCode: 1 },
    expected: { action: undefined },
  },
  {
    name: 'matches a listed exit code',
    rules: [onExit('Count', [1, 2])],
    pod: { exitCode: 2 },
    expected: { action: 'Count' },
  },
  {
    name: 'matches an exit code that is not listed',
    rules: [onExit('Ignore', [1], 'NotIn')],
    pod: { exitCode: 2 },
    expected: { action: 'Ignore' },
  },
  {
    name: 'does not match a succeeded container',
    rules: [onExit('Ignore', [1], 'NotIn')],
    pod: { exitCode: 0 },
    expected: { action: undefined },
  },
  {
    name: 'matches the named container only',
    rules: [onExit('Ignore', [1], 'In', 'sidecar')],
    pod: { exitCode: 1 },
    expected: { action: undefined },
  },
  {
    name: 'takes the first rule that matches',
    rules: [onExit('FailIndex', [1]), onExit('FailJob', [1])],
    pod: { exitCode: 1 },
    expected: { action: 'FailIndex' },
  },
  {
    name: 'names the container that made the Job fail',
    rules: [onExit('Ignore', [9]), onExit('FailJob', [42])],
    pod: { exitCode: 42, name: 'p' },
    expected: {
      action: 'FailJob',
      message: 'Container app for pod default/p failed with exit code 42 matching FailJob rule at index 1',
    },
  },
  {
    name: 'matches a condition of the pod',
    rules: [onCondition('Ignore')],
    pod: { conditions: disrupted },
    expected: { action: 'Ignore' },
  },
  {
    name: 'does not match a condition with another status',
    rules: [onCondition('Ignore', 'DisruptionTarget', 'False')],
    pod: { conditions: disrupted },
    expected: { action: undefined },
  },
  {
    name: 'names the condition that made the Job fail',
    rules: [onCondition('FailJob')],
    pod: { conditions: disrupted, name: 'p' },
    expected: {
      action: 'FailJob',
      message: 'Pod default/p has condition DisruptionTarget matching FailJob rule at index 0',
    },
  },
  {
    name: 'ignores a rule with an unknown action',
    rules: [onExit('Explode', [1]), onExit('Count', [1])],
    pod: { exitCode: 1 },
    expected: { action: 'Count' },
  },
];

describe('judgeFailure', () => {
  for (const { name, rules, pod, expected } of rows) {
    test(name, () => {
      const policy = rules === undefined ? undefined : frozen({ rules });
      expect(judgeFailure(policy, jobPod(frozen(job()), { phase: 'Failed', ...pod }))).toEqual(expected);
    });
  }

  test('matches an init container', () => {
    const pod = jobPod(frozen(job()), { phase: 'Failed', exitCode: 0 });
    const terminated = { exitCode: 5, finishedAt: '2026-01-01T00:00:00Z' };
    const status = { name: 'init', image: 'i', imageID: 'i', ready: false, restartCount: 0, state: { terminated } };
    const failedEarly = { ...pod, status: { ...pod.status, initContainerStatuses: [status] } };
    expect(judgeFailure(frozen({ rules: [onExit('Ignore', [5])] }), failedEarly)).toEqual({ action: 'Ignore' });
  });
});

describe('countsAsFailure', () => {
  const counts = [
    { action: undefined, expected: true },
    { action: 'Count', expected: true },
    { action: 'FailIndex', expected: true },
    { action: 'Ignore', expected: false },
  ] as const;
  for (const { action, expected } of counts) {
    test(`is ${String(expected)} for ${action ?? 'no rule'}`, () => expect(countsAsFailure({ action })).toBe(expected));
  }
});
