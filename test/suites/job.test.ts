import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CoreEvents, Jobs, Pods, type Job, type JobStatus, type Pod } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { startHollowNodes, type HollowNodes } from '../../pkg/hollow/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import type { State } from '../support/compare-state.ts';
import { trackingFinalizer } from '../support/job-pods.ts';
import { runJobScenarios } from '../support/job-scenarios.ts';
import { JobUser } from '../support/job-user.ts';
import { silentLogger } from '../support/loggers.ts';
import { compareWithGo, runWith, type Scenario } from '../support/side-by-side.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const stop = new AbortController();
let clients: ClientBuilder;
let hollow: HollowNodes;
let ours: State;

/** Every feature, each on its own Job. */
const scenario: Scenario = {
  controllers: ['job-controller'],
  kinds: [Jobs, Pods, CoreEvents],
  flags: ['--kube-api-qps=500', '--kube-api-burst=500'],
  run: ({ client, namespace }, signal) => runJobScenarios(new JobUser(client, namespace, signal)),
};

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'job-suite' });
  const client = clients.clientFor('hollow-nodes');
  const nodes = { client, clock: systemClock, logger: silentLogger, nodes: 3, podStopDelayMs: 0, jobRunMs: Infinity };
  hollow = await startHollowNodes(nodes, stop.signal);
  ours = await runWith('ours', cluster(), scenario, stop.signal);
});

afterAll(async () => {
  stop.abort();
  await hollow?.stopped;
  clients?.close();
});

function jobs(state: State): Job[] {
  return state.objects.flatMap(({ kind, object }) => (kind === 'Job' ? [object as KubeJob] : []));
}

function podsOf(name: string): Pod[] {
  const pods = ours.objects.flatMap(({ kind, object }) => (kind === 'Pod' ? [object as KubePod] : []));
  return pods.filter(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name'] === name);
}

// What was dumped was listed by kind.
type KubeJob = Job & Record<string, unknown>;
type KubePod = Pod & Record<string, unknown>;

const rows: { job: string; does: string; status: JobStatus; ends?: string }[] = [
  { job: 'plain', does: 'runs its pods to completion', status: { succeeded: 3 }, ends: 'Complete CompletionsReached' },
  { job: 'nothing-to-do', does: 'is complete at once', status: {}, ends: 'Complete CompletionsReached' },
  {
    job: 'work-queue',
    does: 'replaces nothing after the first success and waits for the last pod',
    status: { succeeded: 2, failed: 1 },
    ends: 'Complete CompletionsReached',
  },
  {
    job: 'backoff-limit',
    does: 'fails at its backoff limit',
    status: { failed: 2 },
    ends: 'Failed BackoffLimitExceeded',
  },
  {
    job: 'backoff-limit-ends-others',
    does: 'stops and counts the pods that still run when it fails',
    status: { failed: 3 },
    ends: 'Failed BackoffLimitExceeded',
  },
  {
    job: 'restarts-in-place',
    does: 'lets containers restart',
    status: { succeeded: 1 },
    ends: 'Complete CompletionsReached',
  },
  {
    job: 'too-many-restarts',
    does: 'fails when containers restart too often',
    status: { failed: 1 },
    ends: 'Failed BackoffLimitExceeded',
  },
  {
    job: 'indexed',
    does: 'runs each index once',
    status: { succeeded: 5, completedIndexes: '0-4' },
    ends: 'Complete CompletionsReached',
  },
  {
    job: 'failed-index',
    does: 'fails an index at its backoff limit, and continues with the others',
    status: { succeeded: 3, failed: 2, completedIndexes: '0,2,3', failedIndexes: '1' },
    ends: 'Failed FailedIndexes',
  },
  {
    job: 'max-failed-indexes',
    does: 'fails with too many failed indexes',
    status: { failed: 3, failedIndexes: '0' },
    ends: 'Failed MaxFailedIndexesExceeded',
  },
  {
    job: 'policy-fails-job',
    does: 'fails at once for an exit code',
    status: { failed: 2 },
    ends: 'Failed PodFailurePolicy',
  },
  {
    job: 'policy-ignores',
    does: 'does not count a pod that was evicted',
    status: { succeeded: 1 },
    ends: 'Complete CompletionsReached',
  },
  {
    job: 'policy-counts',
    does: 'counts failures by its rules',
    status: { failed: 1 },
    ends: 'Failed BackoffLimitExceeded',
  },
  {
    job: 'policy-fails-index',
    does: 'fails an index for an exit code',
    status: { succeeded: 1, failed: 1, completedIndexes: '1', failedIndexes: '0' },
    ends: 'Failed FailedIndexes',
  },
  {
    job: 'success-policy',
    does: 'is complete by its success policy',
    status: { succeeded: 1, completedIndexes: '1' },
    ends: 'Complete SuccessPolicy',
  },
  {
    job: 'replaces-terminating',
    does: 'replaces a terminating pod, and does not finish before it is deleted',
    status: { succeeded: 1, failed: 1 },
    ends: 'Complete CompletionsReached',
  },
  {
    job: 'replaces-only-ended',
    does: 'replaces a pod once it has failed',
    status: { succeeded: 1, failed: 1 },
    ends: 'Complete CompletionsReached',
  },
  { job: 'deadline', does: 'fails at its deadline', status: { failed: 2 }, ends: 'Failed DeadlineExceeded' },
  {
    job: 'suspend-resume',
    does: 'stops its pods when suspended, may change its node selector, and completes later',
    status: { succeeded: 2 },
    ends: 'Complete CompletionsReached',
  },
  { job: 'stays-suspended', does: 'runs nothing while suspended', status: {} },
  { job: 'managed-by-other', does: 'is ignored if another controller manages it', status: {} },
  { job: 'parallelism', does: 'follows changes of its parallelism', status: {} },
  {
    job: 'elastic-index',
    does: 'scales down, and drops the indexes that it no longer has',
    status: { succeeded: 3, completedIndexes: '0-2' },
    ends: 'Complete CompletionsReached',
  },
  {
    job: 'adoption',
    does: 'adopts pods that it selects and releases others',
    status: { succeeded: 2 },
    ends: 'Complete CompletionsReached',
  },
];

describe('a Job', () => {
  for (const { job, does, status, ends } of rows) {
    test(`${does} (${job})`, () => {
      const shown = jobs(ours).find(({ metadata }) => metadata.name === job)?.status ?? {};
      const { succeeded, failed, completedIndexes, failedIndexes, active, conditions = [] } = shown;
      const terminal = conditions.find(({ type }) => type === 'Complete' || type === 'Failed');
      expect({ succeeded, failed, completedIndexes, failedIndexes, active }).toEqual({ ...status, active: undefined });
      expect(terminal && `${terminal.type} ${terminal.reason ?? ''}`).toBe(ends);
    });
  }

  test('sets the index of its pods in annotation, label, environment and host name', () => {
    const [pod] = podsOf('indexed').filter(({ spec }) => spec.hostname === 'indexed-3');
    const index = 'batch.kubernetes.io/job-completion-index';
    expect(pod?.metadata).toMatchObject({ labels: { [index]: '3' }, annotations: { [index]: '3' } });
    expect(pod?.metadata.name).toMatch(/^indexed-3-[a-z0-9]{5}$/);
    for (const container of [...(pod?.spec.containers ?? []), ...(pod?.spec.initContainers ?? [])]) {
      const fieldRef = { apiVersion: 'v1', fieldPath: `metadata.labels['${index}']` };
      expect(container.env).toEqual([{ name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef } }]);
    }
  });

  test('leaves no finalizer behind, even when it is deleted', () => {
    expect(podsOf('deleted-job')).toHaveLength(2);
    const kept = ours.objects.filter(({ object }) => object.metadata.finalizers?.includes(trackingFinalizer) === true);
    expect(kept.map(({ object }) => object.metadata.name)).toEqual([]);
  });
});

test('all Jobs, pods and events end up as with the Go controller manager', async () => {
  const runGo = () => runWith('go', cluster(), scenario, stop.signal);
  expect(jobs(ours)).toHaveLength(rows.length);
  expect(await compareWithGo(ours, runGo)).toEqual([]);
});
