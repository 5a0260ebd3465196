import { describe, expect, test } from 'vitest';

import type { CronJobStatus, Job, JobStatus } from '../../pkg/api/index.ts';
import { frozen, job } from '../../test/support/builders.ts';
import { reviewActive, selectUnexpected } from './active.ts';
import { referenceTo } from './jobs.ts';

const complete = (completionTime?: string): JobStatus => ({
  conditions: [{ type: 'Complete', status: 'True' }],
  completionTime,
});
const failed: JobStatus = { conditions: [{ type: 'Failed', status: 'True' }] };
const running = job({ name: 'running' });
const done = job({ name: 'done', status: complete('2026-01-01T02:00:00Z') });
const broken = job({ name: 'broken', status: failed });
const namesOf = ({ active = [] }: { active?: readonly { name?: string | undefined }[] | undefined }): unknown[] =>
  active.map(({ name }) => name);

describe('reviewActive', () => {
  const listed = frozen<CronJobStatus>({ active: [running, done, broken].map(referenceTo) });

  test('removes ended Jobs from the list and records events', () => {
    const { status, events, unseen } = reviewActive(listed, frozen([running, done, broken]));
    expect(namesOf(status)).toEqual(['running']);
    expect(status.lastSuccessfulTime).toBe('2026-01-01T02:00:00Z');
    expect(events).toEqual([
      { type: 'Normal', reason: 'SawCompletedJob', message: 'Saw completed job: done, condition: Complete' },
      { type: 'Normal', reason: 'SawCompletedJob', message: 'Saw completed job: broken, condition: Failed' },
    ]);
    expect(unseen).toEqual([]);
  });

  test('returns listed Jobs that are not in the cache, and keeps them listed', () => {
    const { status, unseen } = reviewActive(listed, frozen([done]));
    expect(namesOf({ active: unseen })).toEqual(['running', 'broken']);
    expect(namesOf(status)).toEqual(['running', 'broken']);
  });

  test('changes nothing when nothing has changed', () => {
    const status = frozen<CronJobStatus>({ active: [referenceTo(running)] });
    expect(reviewActive(status, frozen([running])).status).toBe(status);
  });

  const rows: { name: string; before: string | undefined; jobs: Job[]; expected: string | undefined }[] = [
    { name: 'is not set by a failure', before: undefined, jobs: [broken], expected: undefined },
    {
      name: 'is set by a success that was never listed',
      before: undefined,
      jobs: [done],
      expected: '2026-01-01T02:00:00Z',
    },
    { name: 'moves forward', before: '2026-01-01T01:59:59Z', jobs: [done], expected: '2026-01-01T02:00:00Z' },
    { name: 'never moves back', before: '2026-01-01T02:00:01Z', jobs: [done], expected: '2026-01-01T02:00:01Z' },
    {
      name: 'stays when a success has no time',
      before: '2026-01-01T01:00:00Z',
      jobs: [job({ status: complete() })],
      expected: '2026-01-01T01:00:00Z',
    },
  ];
  for (const { name, before, jobs, expected } of rows) {
    test(`lastSuccessfulTime ${name}`, () => {
      expect(reviewActive({ lastSuccessfulTime: before }, frozen(jobs)).status.lastSuccessfulTime).toBe(expected);
    });
  }
});

describe('selectUnexpected', () => {
  test('selects running Jobs that are not listed', () => {
    const status = { active: [referenceTo(done)] };
    expect(selectUnexpected(status, frozen([running, done, broken])).map(({ metadata }) => metadata.name)).toEqual([
      'running',
    ]);
  });
});
