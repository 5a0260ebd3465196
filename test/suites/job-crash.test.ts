import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSharedInformerFactory, type SharedInformerFactory } from '../../informers/index.ts';
import { Jobs, keyOf, parseTime, Pods, type Cached, type Job, type Pod } from '../../pkg/api/index.ts';
import { ClientBuilder, isNotFound, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { podSettingNames, startHollowNodes, type HollowNodes } from '../../pkg/hollow/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { watchUntil } from '../support/eventually.ts';
import { trackingFinalizer } from '../support/job-pods.ts';
import { exitingWith, isOver, JobUser, type JobDescription } from '../support/job-user.ts';
import { silentLogger } from '../support/loggers.ts';
import { startManager } from '../support/manager.ts';
import { seededRandom } from '../support/random.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

/** For a longer run than every test run can afford: `JOB_CRASH_JOBS=200 JOB_CRASH_PODS=10 JOB_CRASH_KILLS=20`. */
const size = (name: string, usual: number): number => Number(process.env[name] ?? usual);
const jobCount = size('JOB_CRASH_JOBS', 40);
const podsPerJob = size('JOB_CRASH_PODS', 5);
const kills = size('JOB_CRASH_KILLS', 8);
const seed = size('JOB_CRASH_SEED', Date.now() % 1_000_000);

const cluster = useCluster();
const stop = new AbortController();
let clients: ClientBuilder;
let client: Client;
let hollow: HollowNodes;
let informers: SharedInformerFactory;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'job-crash-suite' });
  client = clients.clientFor('job-crash-suite');
  informers = createSharedInformerFactory({ client, clock: systemClock, logger: silentLogger, random: Math.random });
  const nodes = { client, clock: systemClock, logger: silentLogger, nodes: 5, podStopDelayMs: 0, jobRunMs: Infinity };
  hollow = await startHollowNodes(nodes, stop.signal);
});

afterAll(async () => {
  stop.abort();
  await hollow?.stopped;
  await informers?.shutdown();
  clients?.close();
});

/** Shapes of Jobs whose every pod runs exactly once, and how many of `podsPerJob` then succeed. */
const shapes: { readonly name: string; readonly description: JobDescription; readonly succeed: boolean }[] = [
  { name: 'plain', description: {}, succeed: true },
  { name: 'indexed', description: { completionMode: 'Indexed' }, succeed: true },
  { name: 'failing', description: { completionMode: 'Indexed', backoffLimitPerIndex: 0 }, succeed: false },
];

test(`no pod is counted twice or lost, however often the manager is killed (seed ${String(seed)})`, async ({
  signal,
}) => {
  const random = seededRandom(seed);
  const namespace = await createNamespace(cluster(), 'crash');
  const ends = recordEnds(random, signal);
  informers.start(stop.signal);
  const user = new JobUser(client, namespace, signal);
  for (let i = 0; i < jobCount; i++) {
    const { name, description, succeed } = shapes[i % shapes.length] ?? { name: '', description: {}, succeed: true };
    await user.create(`${name}-${String(i)}`, {
      ...description,
      completions: podsPerJob,
      parallelism: Math.ceil(podsPerJob / 2),
      annotations: {
        [podSettingNames.finishAfter]: `${(random() * 2).toFixed(1)}s`,
        [podSettingNames.exitCode]: succeed ? '0' : '1',
      },
    });
  }

  await user.create(retrying, { backoffLimit: backoffSeconds.length, annotations: exitingWith(1) });

  const flags = [
    '--controllers=job-controller',
    '--leader-elect=false',
    '--use-service-account-credentials=true',
    '--kube-api-qps=1000',
    '--kube-api-burst=1000',
  ];
  for (let i = 0; i < kills; i++) {
    await using manager = await startManager(cluster(), flags);
    await sleep(random() * 2500, undefined, { signal });
    await manager.kill();
  }
  await using manager = await startManager(cluster(), flags);
  const jobs = await watchUntil(client, Jobs, { namespace, count: jobCount + 1 }, isOver, signal);
  await manager.stop();

  const wrong = jobs.filter((job) => !isCountedRight(job, ends.of(job)));
  expect(wrong.map(({ metadata, status }) => ({ name: metadata.name, status, ends: ends.of({ metadata }) }))).toEqual(
    [],
  );
  const { items } = await client.listAll(Pods, { namespace }, signal);
  const kept = items.filter(({ metadata }) => metadata.finalizers?.includes(trackingFinalizer));
  expect(kept.map(keyOf)).toEqual([]);
  expect(ends.deleted).toBeGreaterThan(0);
  expectBackoff(items.filter(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name'] === retrying));
});

/** A Job whose pods all fail, and the back-off before each pod but the first, whichever process is killed meanwhile. */
const retrying = 'retrying';
const backoffSeconds: readonly number[] = [10, 20];

function expectBackoff(pods: readonly Pod[]): void {
  const startMs = (pod: Pod): number => parseTime(pod.metadata.creationTimestamp) ?? Number.NaN;
  const endMs = ({ status }: Pod): number =>
    parseTime(status?.containerStatuses?.[0]?.state?.terminated?.finishedAt) ?? Number.NaN;
  const inOrder = pods.toSorted((a, b) => startMs(a) - startMs(b));
  const waits = inOrder.slice(1).map((pod, i) => (startMs(pod) - endMs(inOrder[i] ?? pod)) / 1000);
  expect(waits).toHaveLength(backoffSeconds.length);
  for (const [i, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(backoffSeconds[i] ?? Infinity);
}

interface Ends {
  readonly succeeded: number;
  readonly failed: number;
}

function isCountedRight({ metadata, status }: Job, { succeeded, failed }: Ends): boolean {
  const all = metadata.name === retrying ? backoffSeconds.length + 1 : podsPerJob;
  const shouldFail = metadata.name === retrying || metadata.name.startsWith('failing');
  const expected: Ends = shouldFail ? { succeeded: 0, failed: all } : { succeeded: all, failed: 0 };
  return (
    succeeded === expected.succeeded &&
    failed === expected.failed &&
    (status?.succeeded ?? 0) === succeeded &&
    (status?.failed ?? 0) === failed
  );
}

/**
 * Observes the end of every pod, and at once deletes a third of them, except the pods that decide a back-off: only
 * their finalizers keep them until they are counted.
 */
function recordEnds(
  random: () => number,
  signal: AbortSignal,
): { of(job: Pick<Job, 'metadata'>): Ends; deleted: number } {
  const phases = new Map<string, Map<string, string>>();
  const record = {
    deleted: 0,
    of({ metadata }: Pick<Job, 'metadata'>): Ends {
      const ended = [...(phases.get(metadata.name)?.values() ?? [])];
      const count = (phase: string): number => ended.filter((other) => other === phase).length;
      return { succeeded: count('Succeeded'), failed: count('Failed') };
    },
  };
  const see = (pod: Cached<Pod>): void => {
    const phase = pod.status?.phase ?? '';
    if (phase !== 'Succeeded' && phase !== 'Failed') return;
    const jobName = pod.metadata.labels?.['batch.kubernetes.io/job-name'] ?? '';
    const ofJob = phases.get(jobName) ?? new Map<string, string>();
    phases.set(jobName, ofJob);
    if (ofJob.has(pod.metadata.uid)) return;
    ofJob.set(pod.metadata.uid, phase);
    if (jobName === retrying || random() >= 1 / 3) return;
    record.deleted++;
    client.delete(Pods, keyOf(pod), {}, signal).catch((error: unknown) => {
      if (!isNotFound(error) && !signal.aborted) throw error;
    });
  };
  informers.informerFor(Pods).addHandler({ added: see, updated: (_before, after) => see(after), deleted: see });
  return record;
}
