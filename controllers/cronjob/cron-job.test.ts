import { describe, expect, test } from 'vitest';

import {
  CronJobs,
  formatTime,
  Jobs,
  keyOf,
  type CronJob,
  type Job,
  type JobStatus,
  type ObjectKey,
} from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { cronJob, job } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createCronJobController } from './cron-job.ts';

const minuteMs = 60_000;
const signal = new AbortController().signal;

interface Stage extends TestContext {
  readonly events: NewEvent[];
  run(use: () => Promise<void>): Promise<void>;
  /** Lets time pass, and what it brings. */
  pass(ms: number): Promise<void>;
  jobNames(): string[];
  theCronJob(): CronJob;
  finish(name: string, type?: 'Complete' | 'Failed'): Promise<void>;
}

function stage(described: Parameters<typeof cronJob>[0] = {}): Stage {
  const base = createTestContext();
  const { server, clock } = base;
  const events: NewEvent[] = [];
  const context = {
    ...base.context,
    recorderFor: () => ({ event: (_kind: unknown, _about: unknown, event: NewEvent) => void events.push(event) }),
  };
  server.seed(CronJobs, cronJob(described));
  return {
    ...base,
    events,
    run: (use) =>
      whileRunning(base, createCronJobController(context, { workers: 2, localTimeZone: () => 'UTC' }), async () => {
        await settle();
        await use();
      }),
    async pass(ms) {
      await clock.advance(ms);
      await settle();
    },
    jobNames: () => server.stored(Jobs).map(({ metadata }) => metadata.name),
    theCronJob() {
      const [only] = server.stored(CronJobs);
      if (only === undefined) throw new Error('the CronJob is gone');
      return only;
    },
    async finish(name, type = 'Complete') {
      const nowTime = formatTime(clock.now());
      const status: JobStatus = { conditions: [{ type, status: 'True' }], startTime: nowTime };
      if (type === 'Complete') status.completionTime = nowTime;
      const body = { status };
      await server.patch(Jobs, `default/${name}` as ObjectKey, { type: 'merge', body, subresource: 'status' }, signal);
      await settle();
    },
  };
}

const reasonsOf = (events: readonly NewEvent[]): string[] => events.map(({ reason }) => reason);
const activeNames = ({ status }: CronJob): unknown[] => (status?.active ?? []).map(({ name }) => name);
/** 2026-01-01T00:00Z, where the clock starts, in minutes. */
const epochMinutes = Date.parse('2026-01-01T00:00:00Z') / minuteMs;
const run = (minute: number): string => `cronjob-${epochMinutes + minute}`;

describe('a CronJob', () => {
  test('starts a Job each time, lists it while it runs and notes its success', async () => {
    const on = stage();
    await on.run(async () => {
      await on.pass(minuteMs - 1);
      expect(on.jobNames()).toEqual([]);
      await on.pass(101);
      expect(on.jobNames()).toEqual([run(1)]);
      expect(on.theCronJob().status).toMatchObject({
        lastScheduleTime: '2026-01-01T00:01:00Z',
        active: [{ apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name: run(1) }],
      });
      await on.finish(run(1));
      expect(activeNames(on.theCronJob())).toEqual([]);
      expect(on.theCronJob().status?.lastSuccessfulTime).toBe('2026-01-01T00:01:00Z');
      await on.pass(minuteMs);
      expect(on.jobNames()).toEqual([run(1), run(2)]);
      expect(reasonsOf(on.events)).toEqual(['SuccessfulCreate', 'SawCompletedJob', 'SuccessfulCreate']);
    });
    const writes = on.client.writes.map(({ verb, resource }) => `${verb} ${resource}`);
    expect(writes).toEqual(
      ['create jobs.batch', 'update cronjobs.batch', 'update cronjobs.batch'].concat([
        'create jobs.batch',
        'update cronjobs.batch',
      ]),
    );
  });

  test('asks the server for nothing while nothing is odd', async () => {
    const on = stage();
    await on.run(async () => {
      await on.pass(10 * minuteMs);
      for (const name of on.jobNames()) await on.finish(name);
      await on.pass(10 * minuteMs);
    });
    expect(on.client.actions.filter(({ verb }) => verb === 'get')).toEqual([]);
    expect(on.jobNames()).toHaveLength(3 + 10);
  });

  test('keeps as many ended Jobs as it should', async () => {
    const on = stage({ spec: { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 } });
    await on.run(async () => {
      for (const minute of [1, 2, 3]) {
        await on.pass(minuteMs + (minute === 1 ? 100 : 0));
        await on.finish(run(minute), minute === 2 ? 'Failed' : 'Complete');
      }
      expect(on.jobNames()).toEqual([run(3)]);
    });
    const deletes = on.client.writes.filter(({ verb }) => verb === 'delete');
    expect(deletes.map(({ key, body }) => ({ key, body }))).toEqual(
      [run(2), run(1)].map((name) => ({
        key: `default/${name}`,
        body: { propagationPolicy: 'Background', preconditions: { uid: expect.any(String) as string } },
      })),
    );
  });

  test('starts no second Job beside the first where that is forbidden', async () => {
    const on = stage({ spec: { concurrencyPolicy: 'Forbid' } });
    await on.run(async () => {
      await on.pass(minuteMs + 100);
      await on.pass(minuteMs);
      expect(on.jobNames()).toEqual([run(1)]);
      expect(reasonsOf(on.events)).toEqual(['SuccessfulCreate', 'JobAlreadyActive']);
      await on.finish(run(1));
      // The time at which it was in the way has not passed without trace: it is made up for now.
      expect(on.jobNames()).toEqual([run(1), run(2)]);
    });
  });

  test('replaces a Job that still runs', async () => {
    const on = stage({ spec: { concurrencyPolicy: 'Replace' } });
    await on.run(async () => {
      await on.pass(minuteMs + 100);
      await on.pass(minuteMs);
      expect(on.jobNames()).toEqual([run(2)]);
      expect(activeNames(on.theCronJob())).toEqual([run(2)]);
      expect(reasonsOf(on.events)).toEqual(['SuccessfulCreate', 'SuccessfulDelete', 'SuccessfulCreate']);
    });
  });

  test('starts one Job, not all that were missed, after a long outage', async () => {
    const on = stage({ metadata: { creationTimestamp: '2025-12-24T00:00:00Z' } });
    await on.run(async () => {
      expect(on.jobNames()).toEqual([run(0)]);
      expect(reasonsOf(on.events)).toEqual(['TooManyMissedTimes', 'SuccessfulCreate']);
      await on.pass(minuteMs + 100);
      expect(on.jobNames()).toEqual([run(0), run(1)]);
    });
  });

  test('leaves alone what is suspended, and goes on when it no longer is', async () => {
    const on = stage({ spec: { suspend: true } });
    await on.run(async () => {
      await on.pass(5 * minuteMs);
      expect(on.client.actions).toEqual([]);
      await on.server.patch(
        CronJobs,
        keyOf(on.theCronJob()),
        { type: 'merge', body: { spec: { suspend: false } } },
        signal,
      );
      await settle();
      expect(on.jobNames()).toEqual([run(5)]);
    });
  });

  test('follows a new schedule from its next time on', async () => {
    const on = stage({ spec: { schedule: '@yearly' } });
    await on.run(async () => {
      await on.pass(10 * minuteMs);
      const body = { spec: { schedule: '*/3 * * * *' } };
      await on.server.patch(CronJobs, keyOf(on.theCronJob()), { type: 'merge', body }, signal);
      await settle();
      await on.pass(2 * minuteMs);
      expect(on.jobNames()).toEqual([]);
      await on.pass(100);
      expect(on.jobNames()).toEqual([run(12)]);
    });
  });
});

describe('a CronJob whose Jobs are not as it remembers', () => {
  const owned = (name: string, fields: Partial<Job> = {}): Job => ({
    ...job({ name, owner: { kind: CronJobs, object: cronJob() } }),
    ...fields,
  });

  test('takes lost Jobs off its list once the server confirms it', async () => {
    const active = [{ name: 'lost', namespace: 'default', uid: 'uid-lost' }];
    const on = stage({ status: { active } });
    await on.run(async () => {
      expect(activeNames(on.theCronJob())).toEqual([]);
      expect(on.events).toEqual([{ type: 'Normal', reason: 'MissingJob', message: 'Active job went missing: lost' }]);
    });
  });

  test('tells of Jobs that it did not start, without counting them as its own', async () => {
    const on = stage();
    on.server.seed(Jobs, owned('by-hand'));
    await on.run(async () => {
      expect(reasonsOf(on.events)).toEqual(['UnexpectedJob']);
      expect(activeNames(on.theCronJob())).toEqual([]);
    });
  });

  test('does not run twice what it started before a crash', async () => {
    const on = stage({ metadata: { creationTimestamp: '2025-12-31T23:59:30Z' } });
    on.server.seed(Jobs, owned(run(0)));
    await on.run(async () => {
      expect(on.client.writes.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['update cronjobs.batch']);
      expect(activeNames(on.theCronJob())).toEqual([run(0)]);
      expect(on.theCronJob().status?.lastScheduleTime).toBe('2026-01-01T00:00:00Z');
    });
  });

  test('does not run again what has ended, and goes at once, since a crash', async () => {
    const on = stage({
      metadata: { creationTimestamp: '2025-12-31T23:59:30Z' },
      spec: { successfulJobsHistoryLimit: 0 },
    });
    on.server.seed(Jobs, owned(run(0), { status: { conditions: [{ type: 'Complete', status: 'True' }] } }));
    await on.run(async () => {
      expect(on.jobNames()).toEqual([]);
      expect(on.client.writes.filter(({ verb }) => verb === 'create')).toEqual([]);
    });
  });

  test('writes its status on top of what others have changed meanwhile', async () => {
    const on = stage();
    let conflicts = 0;
    on.client.before('update', () => {
      if (conflicts++ === 0) throw apiError(409, 'Conflict');
    });
    await on.run(async () => {
      await on.pass(minuteMs + 100);
      expect(activeNames(on.theCronJob())).toEqual([run(1)]);
      expect(reasonsOf(on.events)).toEqual(['SuccessfulCreate']);
    });
  });

  test('starts the Job once although the answer to its creation was lost', async () => {
    const on = stage();
    let lost = 0;
    on.client.after('create', () => {
      if (lost++ === 0) throw apiError(500, 'InternalError');
    });
    await on.run(async () => {
      await on.pass(minuteMs + 2000);
      expect(on.jobNames()).toEqual([run(1)]);
      expect(activeNames(on.theCronJob())).toEqual([run(1)]);
      expect(on.theCronJob().status?.lastScheduleTime).toBe('2026-01-01T00:01:00Z');
    });
  });

  test('waits when the name of its Job is taken by a stranger, and goes on with the next', async () => {
    const on = stage();
    on.server.seed(Jobs, job({ name: run(1) }));
    await on.run(async () => {
      await on.pass(minuteMs + 100);
      expect(on.theCronJob().status?.active ?? []).toEqual([]);
      await on.pass(minuteMs);
      expect(activeNames(on.theCronJob())).toEqual([run(2)]);
    });
  });

  test('keeps on its list a Job that could not be deleted, and tries again', async () => {
    const on = stage({ spec: { concurrencyPolicy: 'Replace' } });
    let refused = 0;
    on.client.before('delete', () => {
      if (refused++ === 0) throw apiError(500, 'InternalError', 'not now');
    });
    await on.run(async () => {
      await on.pass(minuteMs + 100);
      await on.pass(minuteMs);
      await on.pass(1000);
      expect(on.jobNames()).toEqual([run(2)]);
      const [, failure] = on.events;
      expect(failure).toEqual({ type: 'Warning', reason: 'FailedDelete', message: 'Deleted job: not now' });
    });
  });
});
