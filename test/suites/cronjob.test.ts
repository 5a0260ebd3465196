import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CoreEvents,
  CronJobs,
  Jobs,
  type CoreEvent,
  type CronJob,
  type Job,
  type KubeObject,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import { ClientBuilder, isInvalid, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import type { State } from '../support/compare-state.ts';
import { CronJobUser, runCronJobScenarios, runTtlScenarios } from '../support/cronjob-scenarios.ts';
import { compareWithGo, runWith, type Scenario } from '../support/side-by-side.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
const stop = new AbortController();
let clients: ClientBuilder;
let ours: State;

const scenario: Scenario = {
  controllers: ['cronjob-controller', 'ttl-after-finished-controller'],
  kinds: [CronJobs, Jobs, CoreEvents],
  flags: ['--kube-api-qps=500', '--kube-api-burst=500'],
  async run({ client, namespace }, signal) {
    const user = new CronJobUser(client, namespace, signal);
    await Promise.all([runCronJobScenarios(user), runTtlScenarios(user)]);
  },
};

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'cronjob-suite' });
  ours = await runWith('ours', cluster(), scenario, stop.signal);
});

afterAll(() => {
  stop.abort();
  clients?.close();
});

function objectsOf<T extends KubeObject>(kind: string): (T & UntypedObject)[] {
  const dumped = ours.objects.filter((known) => known.kind === kind);
  return dumped.map(({ object }) => object as T & UntypedObject); // they were listed by kind
}

function cronJobNamed(name: string): CronJob {
  const found = objectsOf<CronJob>('CronJob').find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no CronJob ${name}`);
  return found;
}

const jobsOf = (name: string): Job[] =>
  objectsOf<Job>('Job').filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.name === name));

const reasonsOf = (name: string): string[] =>
  objectsOf<CoreEvent>('Event')
    .filter(({ involvedObject }) => involvedObject.kind === 'CronJob' && involvedObject.name === name)
    .map(({ reason }) => reason ?? '')
    .sort();

test('end in the same state with both controller managers', async () => {
  const runGo = () => runWith('go', cluster(), scenario, stop.signal);
  const ignore = ['CronJob:status.active*.resourceVersion']; // of the Jobs when they were made
  expect(await compareWithGo(ours, runGo, { ignore })).toEqual([]);
});

describe('a CronJob', () => {
  const rows = [
    { name: 'allow', jobs: 1, active: 0, events: ['SawCompletedJob', 'SuccessfulCreate'] },
    { name: 'time-zone', jobs: 1, active: 1, events: ['SuccessfulCreate'] },
    { name: 'changed', jobs: 1, active: 1, events: ['SuccessfulCreate'] },
    { name: 'forbid', jobs: 1, active: 1, events: ['JobAlreadyActive'] },
    { name: 'replace', jobs: 1, active: 1, events: ['SuccessfulCreate', 'SuccessfulDelete'] },
    { name: 'missing', jobs: 0, active: 0, events: ['MissingJob'] },
    { name: 'unexpected', jobs: 1, active: 0, events: ['UnexpectedJob'] },
    { name: 'never', jobs: 0, active: 0, events: ['InvalidSchedule'] },
    { name: 'suspended', jobs: 0, active: 0, events: [] },
    { name: 'history', jobs: 3, active: 0, events: ['SuccessfulDelete', 'SuccessfulDelete', 'SuccessfulDelete'] },
  ];
  for (const { name, jobs, active, events } of rows) {
    test(`called ${name} has ${String(jobs)} Jobs, ${String(active)} of them active, and records events`, () => {
      expect(jobsOf(name)).toHaveLength(jobs);
      expect(cronJobNamed(name).status?.active ?? []).toHaveLength(active);
      expect(reasonsOf(name)).toEqual(events);
    });
  }

  test('names its Job after the minute and records the scheduled time, in its time zone', () => {
    const [job] = jobsOf('time-zone');
    const lastScheduleTime = cronJobNamed('time-zone').status?.lastScheduleTime ?? '';
    const annotation = job?.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'] ?? '';
    expect(annotation).toMatch(/\+05:30$/);
    expect(Date.parse(annotation)).toBe(Date.parse(lastScheduleTime));
    expect(job?.metadata.name).toBe(`time-zone-${String(Math.floor(Date.parse(lastScheduleTime) / 60_000))}`);
    expect(job?.metadata).toMatchObject({
      labels: { made: 'by-cronjob' },
      annotations: { 'example.com/note': 'kept' },
      ownerReferences: [{ kind: 'CronJob', name: 'time-zone', controller: true, blockOwnerDeletion: true }],
    });
  });

  test('keeps the Jobs that started last', () => {
    const names = jobsOf('history').map(({ metadata }) => metadata.name);
    expect(names.sort()).toEqual(['history-complete-3', 'history-complete-4', 'history-failed-6']);
  });

  test('is refused by the server when its schedule names a time zone', async ({ signal }) => {
    const user = new CronJobUser(clients.clientFor('test'), await createNamespace(cluster(), 'zones'), signal);
    for (const schedule of ['TZ=UTC 0 0 * * *', 'CRON_TZ=UTC @daily']) {
      await expect(user.create('zoned', { schedule })).rejects.toSatisfy(isInvalid);
    }
  });
});

test('Jobs are deleted after their current TTL, and not before', () => {
  const withTtl = objectsOf<Job>('Job').filter(({ metadata }) => metadata.name.startsWith('ttl-'));
  const going = withTtl.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const namesOf = (jobs: readonly Job[]): string[] => jobs.map(({ metadata }) => metadata.name.slice(4)).sort();
  expect(namesOf(going)).toEqual(['added', 'failed', 'last', 'lowered', 'overdue']);
  expect(namesOf(withTtl.filter((job) => !going.includes(job)))).toEqual(['dropped', 'none', 'raised', 'unfinished']);
  for (const { metadata } of going) expect(metadata.finalizers).toContain('foregroundDeletion');
});
