import {
  CoreEvents,
  CronJobs,
  Jobs,
  keyOf,
  objectKey,
  type CronJob,
  type Job,
  type JobCondition,
  type Unsaved,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';

/**
 * Soon, and relative to the creation: a schedule of five fields could take a minute. All runs of one minute have the
 * same name.
 */
const soon = '@every 2s';
const yearly = '@yearly';

/** Acts like a user of CronJobs, and like the Job controller for their Jobs. */
export class CronJobUser {
  readonly #client: Client;
  readonly namespace: string;
  readonly #signal: AbortSignal;

  constructor(client: Client, namespace: string, signal: AbortSignal) {
    this.#client = client;
    this.namespace = namespace;
    this.#signal = signal;
  }

  create(name: string, spec: Partial<CronJob['spec']>): Promise<CronJob> {
    const jobTemplate = {
      metadata: { labels: { made: 'by-cronjob' }, annotations: { 'example.com/note': 'kept' } },
      spec: jobSpec,
    };
    const object: Unsaved<CronJob> = {
      metadata: { namespace: this.namespace, name },
      spec: { schedule: yearly, jobTemplate, ...spec },
    };
    return this.#client.create(CronJobs, object, this.#signal);
  }

  patch(name: string, body: object, subresource?: 'status'): Promise<CronJob> {
    const key = objectKey(this.namespace, name);
    return this.#client.patch(CronJobs, key, { type: 'merge', body, subresource }, this.#signal);
  }

  suspend(name: string): Promise<CronJob> {
    return this.patch(name, { spec: { suspend: true } });
  }

  /** Waits until the CronJob matches. */
  until(name: string, isWanted: (cronJob: CronJob) => boolean): Promise<CronJob> {
    const key = objectKey(this.namespace, name);
    return eventually(async () => {
      const cronJob = await this.#client.get(CronJobs, key, this.#signal);
      return isWanted(cronJob) ? cronJob : false;
    }, this.#signal);
  }

  /** Waits until the CronJob has one active Job, and returns it. */
  async started(name: string): Promise<Job> {
    const { status } = await this.until(name, ({ status }) => status?.active?.length === 1);
    const [reference] = status?.active ?? [];
    return this.#client.get(Jobs, objectKey(this.namespace, reference?.name ?? ''), this.#signal);
  }

  async untilEvent(cronJobName: string, reason: string): Promise<void> {
    const fieldSelector = `involvedObject.name=${cronJobName},reason=${reason}`;
    await eventually(async () => {
      const { items } = await this.#client.listAll(
        CoreEvents,
        { namespace: this.namespace, fieldSelector },
        this.#signal,
      );
      return items.length > 0;
    }, this.#signal);
  }

  createJob(name: string, spec: Partial<Job['spec']> = {}): Promise<Job> {
    const object = { metadata: { namespace: this.namespace, name }, spec: { ...jobSpec, ...spec } };
    return this.#client.create(Jobs, object, this.#signal);
  }

  patchJob(job: Job, body: object): Promise<Job> {
    return this.#client.patch(Jobs, keyOf(job), { type: 'merge', body }, this.#signal);
  }

  /** Marks the Job as finished: no controller runs it. */
  finish(job: Job, { end = 'Complete', started = '2026-01-01T00:00:00Z', ended = now() } = {}): Promise<Job> {
    const condition = (type: string): JobCondition => ({ type, status: 'True', lastTransitionTime: ended });
    const status =
      end === 'Complete'
        ? { conditions: [condition('SuccessCriteriaMet'), condition(end)], completionTime: ended, succeeded: 1 }
        : { conditions: [condition('FailureTarget'), condition(end)], failed: 1 };
    const body = { status: { startTime: started, uncountedTerminatedPods: {}, ...status } };
    return this.#client.patch(Jobs, keyOf(job), { type: 'merge', body, subresource: 'status' }, this.#signal);
  }

  giveTo(job: Job, owner: CronJob): Promise<Job> {
    const { name, uid } = owner.metadata;
    const reference = { apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true };
    return this.patchJob(job, { metadata: { ownerReferences: [reference] } });
  }

  /** Waits until the Job matches. Undefined means that the Job is deleted. */
  untilJob(job: Job, isWanted: (job: Job | undefined) => boolean): Promise<void> {
    return eventually(async () => {
      const { items } = await this.#client.listAll(
        Jobs,
        { namespace: this.namespace, fieldSelector: `metadata.name=${job.metadata.name}` },
        this.#signal,
      );
      return isWanted(items[0]) ? undefined : false;
    }, this.#signal);
  }
}

const jobSpec: Job['spec'] = {
  template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example' }] } },
};

function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The behaviours of CronJobs, in a few seconds. Each CronJob is named after its behaviour. */
export async function runCronJobScenarios(user: CronJobUser): Promise<void> {
  await Promise.all([
    startsAndFinishes(user),
    startsInTimeZone(user),
    startsAfterChange(user),
    keepsHistory(user),
    meetsRunningJob(user, 'forbid', 'Forbid'),
    meetsRunningJob(user, 'replace', 'Replace'),
    losesJob(user),
    findsStrangeJob(user),
    neverComes(user),
    user.create('suspended', { schedule: '@every 1s', suspend: true }),
  ]);
}

async function startsAndFinishes(user: CronJobUser): Promise<void> {
  await user.create('allow', { schedule: soon });
  const job = await user.started('allow');
  await user.suspend('allow');
  await user.finish(job);
  await user.until('allow', ({ status }) => (status?.active ?? []).length === 0);
}

async function startsInTimeZone(user: CronJobUser): Promise<void> {
  await user.create('time-zone', { schedule: soon, timeZone: 'Asia/Kolkata' });
  await user.started('time-zone');
  await user.suspend('time-zone');
}

async function startsAfterChange(user: CronJobUser): Promise<void> {
  await user.create('changed', { schedule: yearly });
  await user.patch('changed', { spec: { schedule: soon } });
  await user.started('changed');
  await user.suspend('changed');
}

async function keepsHistory(user: CronJobUser): Promise<void> {
  const owner = await user.create('history', { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 });
  const ended = async (end: 'Complete' | 'Failed', hour: number): Promise<Job> => {
    const job = await user.createJob(`history-${end.toLowerCase()}-${String(hour)}`);
    const time = (minute: number): string => `2026-01-01T0${String(hour)}:0${String(minute)}:00Z`;
    return user.giveTo(await user.finish(job, { end, started: time(0), ended: time(1) }), owner);
  };
  const succeeded = await Promise.all([1, 2, 3, 4].map((hour) => ended('Complete', hour)));
  const failed = await Promise.all([5, 6].map((hour) => ended('Failed', hour)));
  const gone = [...succeeded.slice(0, 2), ...failed.slice(0, 1)];
  await Promise.all(gone.map((job) => user.untilJob(job, (left) => left === undefined)));
  await user.until('history', ({ status }) => status?.lastSuccessfulTime === '2026-01-01T04:01:00Z');
}

/** A run is due while an earlier Job is still active. */
async function meetsRunningJob(user: CronJobUser, name: string, concurrencyPolicy: string): Promise<void> {
  const owner = await user.create(name, { schedule: soon, suspend: true, concurrencyPolicy });
  const earlier = await user.createJob(`${name}-earlier`);
  const { namespace, uid } = earlier.metadata;
  const reference = { apiVersion: 'batch/v1', kind: 'Job', namespace, name: `${name}-earlier`, uid };
  await user.patch(name, { status: { active: [reference] } }, 'status');
  await user.giveTo(earlier, owner);
  await user.patch(name, { spec: { suspend: false } });
  if (concurrencyPolicy === 'Forbid') await user.untilEvent(name, 'JobAlreadyActive');
  else await user.until(name, ({ status }) => status?.active?.some(({ uid: active }) => active !== uid) ?? false);
  await user.suspend(name);
}

async function losesJob(user: CronJobUser): Promise<void> {
  await user.create('missing', {});
  const { namespace } = user;
  const reference = { apiVersion: 'batch/v1', kind: 'Job', namespace, name: 'missing-1', uid: 'gone' };
  await user.patch('missing', { status: { active: [reference] } }, 'status');
  await user.until('missing', ({ status }) => (status?.active ?? []).length === 0);
}

async function findsStrangeJob(user: CronJobUser): Promise<void> {
  const owner = await user.create('unexpected', {});
  await user.giveTo(await user.createJob('unexpected-by-hand'), owner);
  await user.untilEvent('unexpected', 'UnexpectedJob');
}

async function neverComes(user: CronJobUser): Promise<void> {
  await user.create('never', { schedule: '59 23 31 2 *' });
  await user.untilEvent('never', 'InvalidSchedule');
}

/** Finished Jobs and their cleanup. Each Job is named after its behaviour. */
export async function runTtlScenarios(user: CronJobUser): Promise<void> {
  const create = async (name: string, ttlSecondsAfterFinished?: number): Promise<Job> =>
    user.createJob(`ttl-${name}`, { ttlSecondsAfterFinished });
  const [kept, raised, dropped, lowered, added, overdue, failed, unfinished] = await Promise.all([
    create('none'),
    create('raised', 2),
    create('dropped', 2),
    create('lowered', 3600),
    create('added'),
    create('overdue', 3600),
    create('failed', 1),
    create('unfinished', 0),
  ]);
  await Promise.all([kept, raised, dropped, lowered, added].map((job) => user.finish(job)));
  await Promise.all([
    user.patchJob(raised, { spec: { ttlSecondsAfterFinished: 3600 } }),
    user.patchJob(dropped, { spec: { ttlSecondsAfterFinished: null } }),
    user.patchJob(lowered, { spec: { ttlSecondsAfterFinished: 1 } }),
    user.patchJob(added, { spec: { ttlSecondsAfterFinished: 1 } }),
    user.finish(overdue, { ended: '2026-01-01T00:01:00Z' }),
    user.finish(failed, { end: 'Failed' }),
  ]);
  // Its TTL ends after all others: once it is deleted, the remaining Jobs are kept.
  const last = await create('last', 4);
  await user.finish(last);
  const going = [lowered, added, overdue, failed, last];
  const isGoing = (job: Job | undefined): boolean => job?.metadata.deletionTimestamp !== undefined;
  await Promise.all(going.map((job) => user.untilJob(job, isGoing)));
  await user.untilJob(unfinished, (job) => !isGoing(job));
}
