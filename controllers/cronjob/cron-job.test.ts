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
  /** Advances the clock and waits for the controller. */
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
  test('starts a Job each time, lists it while it runs and records its success', async () => {
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

  test('sends no request while nothing is unexpected', async () => {
    const on = stage();
    await on.run(async () => {
      await on.pass(10 * minuteMs);
      for (const name of on.jobNames()) await on.finish(name);
      await on.pass(10 * minuteMs);
    });
    expect(on.client.actions.filter(({ verb }) => verb === 'get')).toEqual([]);
    expect(on.jobNames()).toHaveLength(3 + 10);
  });

  test('keeps ended Jobs up to the history limits', async () => {
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

  test('starts no second Job with concurrencyPolicy Forbid', async () => {
    const on = stage({ spec: { concurrencyPolicy: 'Forbid' } });
    await on.run(async () => {
      await on.pass(minuteMs + 100);
      await on.pass(minuteMs);
      expect(on.jobNames()).toEqual([run(1)]);
      expect(reasonsOf(on.events)).toEqual(['SuccessfulCreate', 'JobAlreadyActive']);
      await on.finish(run(1));
      // The missed time is still within the deadline, so its Job starts now.
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

  test('starts one Job for all missed times after a long outage', async () => {
    const on = stage({ metadata: { creationTimestamp: '2025-12-24T00:00:00Z' } });
    await on.run(async () => {
      expect(on.jobNames()).toEqual([run(0)]);
      expect(reasonsOf(on.events)).toEqual(['TooManyMissedTimes', 'SuccessfulCreate']);
      await on.pass(minuteMs + 100);
      expect(on.jobNames()).toEqual([run(0), run(1)]);
    });
  });

  test('starts no Job while suspended, and continues afterwards', async () => {
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

  test('uses a new schedule from its next time on', async () => {
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

describe('a CronJob whose status does not match its Jobs', () => {
  const owned = (name: string, fields: Partial<Job> = {}): Job => ({
    ...job({ name, owner: { kind: CronJobs, object: cronJob() } }),
    ...fields,
  });

  test('removes lost Jobs from its list once the API server confirms it', async () => {
    const active = [{ name: 'lost', namespace: 'default', uid: 'uid-lost' }];
    const on = stage({ status: { active } });
    await on.run(async () => {
      expect(activeNames(on.theCronJob())).toEqual([]);
      expect(on.events).toEqual([{ type: 'Normal', reason: 'MissingJob', message: 'Active job went missing: lost' }]);
    });
  });

  test('records events for Jobs that it did not start, without listing them', async () => {
    const on = stage();
    on.server.seed(Jobs, owned('by-hand'));
    await on.run(async () => {
      expect(reasonsOf(on.events)).toEqual(['UnexpectedJob']);
      expect(activeNames(on.theCronJob())).toEqual([]);
    });
  });

  test('does not start a Job again after a crash', async () => {
    const on = stage({ metadata: { creationTimestamp: '2025-12-31T23:59:30Z' } });
    on.server.seed(Jobs, owned(run(0)));
    await on.run(async () => {
      expect(on.client.writes.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['update cronjobs.batch']);
      expect(activeNames(on.theCronJob())).toEqual([run(0)]);
      expect(on.theCronJob().status?.lastScheduleTime).toBe('2026-01-01T00:00:00Z');
    });
  });

  test('does not start a Job again that has ended and is deleted after a crash', async () => {
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

  test('writes its status after a change by another client', async () => {
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

  test('skips a time if another Job has the name, and continues with the next', async () => {
    const on = stage();
    on.server.seed(Jobs, job({ name: run(1) }));
    await on.run(async () => {
      await on.pass(minuteMs + 100);
      expect(on.theCronJob().status?.active ?? []).toEqual([]);
      await on.pass(minuteMs);
      expect(activeNames(on.theCronJob())).toEqual([run(2)]);
    });
  });

  test('keeps a Job listed that could not be deleted, and retries', async () => {
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
