import { describe, expect, test } from 'vitest';

import type { JobStatus } from '../../pkg/api/index.ts';
import { frozen, job } from '../../test/support/builders.ts';
import { computeFinished } from './completion.ts';

const nowMs = Date.parse('2026-01-01T00:01:00Z');
const startTime = '2026-01-01T00:00:00Z';
const succeeded = { outcome: 'succeeded', reason: 'CompletionsReached', message: 'done' } as const;
const failed = { outcome: 'failed', reason: 'DeadlineExceeded', message: 'late' } as const;

describe('a Job does not finish', () => {
  const rows: { name: string; status: JobStatus }[] = [
    { name: 'while a pod is active', status: { active: 1 } },
    { name: 'while a pod is terminating', status: { terminating: 1 } },
    { name: 'while a success is uncounted', status: { uncountedTerminatedPods: { succeeded: ['a'] } } },
    { name: 'while a failure is uncounted', status: { uncountedTerminatedPods: { failed: ['a'] } } },
  ];
  for (const { name, status } of rows) {
    test(name, () => expect(computeFinished(frozen(job()), { startTime, ...status }, failed, nowMs)).toBeUndefined());
  }
});

describe('a finished Job', () => {
  test('has a terminal condition and a completion time', () => {
    const time = '2026-01-01T00:01:00Z';
    const condition = {
      status: 'True',
      reason: 'CompletionsReached',
      message: 'done',
      lastProbeTime: time,
      lastTransitionTime: time,
    };
    expect(computeFinished(frozen(job()), { startTime }, succeeded, nowMs)).toEqual({
      startTime,
      completionTime: time,
      conditions: [{ type: 'Complete', ...condition }],
    });
    const finished = computeFinished(frozen(job()), { startTime }, failed, nowMs);
    expect(finished?.conditions?.[0]).toMatchObject({ type: 'Failed', reason: 'DeadlineExceeded' });
    expect(finished?.completionTime).toBeUndefined();
  });

  test('never has a completion time before its start time', () => {
    const later = '2026-01-01T00:05:00Z';
    expect(computeFinished(frozen(job()), { startTime: later }, succeeded, nowMs)?.completionTime).toBe(later);
  });

  test('has a start time, unless it was suspended with 0 completions', () => {
    const suspended = (completions: number) => frozen(job({ spec: { suspend: true, completions } }));
    expect(computeFinished(suspended(1), {}, failed, nowMs)?.startTime).toBe('2026-01-01T00:01:00Z');
    const idle = computeFinished(suspended(0), {}, succeeded, nowMs);
    expect(idle?.startTime).toBeUndefined();
    expect(idle?.completionTime).toBe('2026-01-01T00:01:00Z');
  });
});
