import { describe, expect, test } from 'vitest';

import { type CronJob, CronJobs, type Job } from '../../pkg/api/index.ts';
import { cronJob, frozen, job } from '../../test/support/builders.ts';
import { jobFromTemplate, jobNameFor, selectExpired } from './jobs.ts';
import { TimeZone } from './time-zone.ts';

const scheduledMs = Date.parse('2026-01-01T12:34:00Z');

describe('jobFromTemplate', () => {
  test('names the Job after its minute and copies the template', () => {
    const template = {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: { template: {}, completions: 4 },
    };
    const owner = frozen(cronJob({ name: 'backup', spec: { jobTemplate: template } }));
    expect(jobFromTemplate(owner, scheduledMs, new TimeZone('Asia/Tokyo'))).toEqual({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: 'backup-29454514',
        namespace: 'default',
        labels: { a: 'b' },
        annotations: { c: 'd', 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T21:34:00+09:00' },
        ownerReferences: [
          {
            apiVersion: 'batch/v1',
            kind: 'CronJob',
            name: 'backup',
            uid: owner.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { template: {}, completions: 4 },
    });
  });

  test('uses one name for all runs of one minute', () => {
    expect(jobNameFor('x', scheduledMs + 59_999)).toBe(jobNameFor('x', scheduledMs));
    expect(jobNameFor('x', scheduledMs + 60_000)).not.toBe(jobNameFor('x', scheduledMs));
  });
});

describe('selectExpired', () => {
  const owner = (successfulJobsHistoryLimit: number | undefined, failedJobsHistoryLimit: number | undefined): CronJob =>
    cronJob({ spec: { successfulJobsHistoryLimit, failedJobsHistoryLimit } });
  const ended = (name: string, type: string, startTime?: string): Job =>
    job({
      name,
      owner: { kind: CronJobs, object: cronJob() },
      status: { conditions: [{ type, status: 'True' }], startTime },
    });
  const jobs = frozen([
    ended('newest', 'Complete', '2026-01-01T03:00:00Z'),
    ended('oldest', 'Complete', '2026-01-01T01:00:00Z'),
    ended('never-started', 'Complete'),
    ended('twin-b', 'Complete', '2026-01-01T02:00:00Z'),
    ended('twin-a', 'Complete', '2026-01-01T02:00:00Z'),
    ended('failed-late', 'Failed', '2026-01-01T02:30:00Z'),
    ended('failed-early', 'Failed', '2026-01-01T01:30:00Z'),
    job({ name: 'running', status: { startTime: '2026-01-01T00:00:00Z' } }),
  ]);
  const rows = [
    { name: 'keeps all Jobs within the limits', limits: owner(5, 2), expected: [] },
    { name: 'selects the oldest first', limits: owner(4, 1), expected: ['oldest', 'failed-early'] },
    {
      name: 'selects by name if two started together',
      limits: owner(3, 2),
      expected: ['oldest', 'twin-a'],
    },
    {
      name: 'keeps Jobs that never started longest',
      limits: owner(1, 2),
      expected: ['oldest', 'twin-a', 'twin-b', 'newest'],
    },
    {
      name: 'selects all ended Jobs with limit 0',
      limits: owner(0, 0),
      expected: ['oldest', 'twin-a', 'twin-b', 'newest', 'never-started', 'failed-early', 'failed-late'],
    },
    { name: 'keeps all Jobs without limits', limits: owner(undefined, undefined), expected: [] },
  ];
  for (const { name, limits, expected } of rows) {
    test(name, () => expect(selectExpired(limits, jobs).map(({ metadata }) => metadata.name)).toEqual(expected));
  }

  test('counts terminating Jobs, but does not select them', () => {
    const going = job({
      name: 'going',
      metadata: { deletionTimestamp: '2026-01-01T04:00:00Z' },
      status: { conditions: [{ type: 'Complete', status: 'True' }], startTime: '2026-01-01T00:30:00Z' },
    });
    const expired = selectExpired(owner(4, 2), [...jobs, going]);
    expect(expired.map(({ metadata }) => metadata.name)).toEqual(['oldest']);
  });
});
