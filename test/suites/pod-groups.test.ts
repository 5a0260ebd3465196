import { describe, expect, test } from 'vitest';

import {
  controllerReference,
  CoreEvents,
  Jobs,
  objectKey,
  PodGroups,
  Pods,
  Workloads,
  type Job,
  type JobSpec,
  type Pod,
} from '../../pkg/api/index.ts';
import { eventually } from '../support/eventually.ts';
import { workloadApis, workloadGates } from '../support/gated-apis.ts';
import { startManager } from '../support/manager.ts';
import { exists } from '../support/owner-graph-objects.ts';
import { runWithBoth, type Scenario, type Stage } from '../support/side-by-side.ts';
import { createNamespace, useCluster, useSharedCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster(workloadApis);
const nodes = useNodes(cluster, { nodes: 2, podStopDelayMs: 0 });
const flags = [workloadGates];
const keep = ['example.com/keep'];

describe('PodGroups', () => {
  const basic = { schedulingPolicy: { basic: {} } };

  async function createGroup(
    { client, namespace }: Stage,
    name: string,
    finalizers: string[],
    signal: AbortSignal,
  ): Promise<void> {
    await client.create(PodGroups, { metadata: { namespace, name, finalizers }, spec: basic }, signal);
  }

  async function createMember(
    { client, namespace }: Stage,
    name: string,
    podGroupName: string,
    signal: AbortSignal,
  ): Promise<Pod> {
    const containers = [{ name: 'app', image: 'example' }];
    const spec = { containers, schedulingGroup: { podGroupName }, nodeName: 'elsewhere' };
    return client.create(Pods, { metadata: { namespace, name }, spec }, signal);
  }

  /** Groups deleted before and after their pods. Those that are called `kept` stay. */
  async function play(stage: Stage, signal: AbortSignal): Promise<void> {
    const { client, namespace } = stage;
    const untilGone = (name: string): Promise<unknown> =>
      eventually(async () => !(await exists(client, PodGroups, objectKey(namespace, name), signal)), signal);
    const end = (name: string): Promise<void> =>
      client.delete(Pods, objectKey(namespace, name), { gracePeriodSeconds: 0 }, signal);
    for (const name of ['unused', 'pod-last', 'finished', 'kept-used', 'kept-alive'])
      await createGroup(stage, name, [], signal);
    await createGroup(stage, 'kept-for-others', keep, signal);
    await createMember(stage, 'last', 'pod-last', signal);
    await createMember(stage, 'finished', 'finished', signal);
    for (const name of ['one', 'two']) await createMember(stage, name, 'kept-used', signal);
    for (const name of ['unused', 'pod-last', 'finished', 'kept-used', 'kept-for-others']) {
      await client.delete(PodGroups, objectKey(namespace, name), {}, signal);
    }
    await untilGone('unused');
    await end('last');
    await untilGone('pod-last');
    const patch = { type: 'merge', subresource: 'status', body: { status: { phase: 'Succeeded' } } } as const;
    await client.patch(Pods, objectKey(namespace, 'finished'), patch, signal);
    await untilGone('finished');
    await end('one');
    await eventually(async () => {
      const { metadata } = await client.get(PodGroups, objectKey(namespace, 'kept-for-others'), signal);
      return metadata.finalizers?.length === 1;
    }, signal);
  }

  test('stay while pods that have not finished name them, as with the Go manager', async ({ signal }) => {
    const scenario: Scenario = {
      controllers: ['podgroup-protection-controller'],
      flags,
      kinds: [PodGroups, Pods, CoreEvents],
      run: play,
    };
    expect(await runWithBoth(cluster(), scenario, {}, signal)).toEqual([]);
  });
});

describe('Jobs', () => {
  const containers = [{ name: 'app', image: 'example' }];
  const finishing = { 'hollow-node/finish-after': '0s' };

  async function createJob(
    { client, namespace }: Stage,
    name: string,
    spec: Partial<JobSpec>,
    signal: AbortSignal,
  ): Promise<Job> {
    const template = { metadata: { annotations: finishing }, spec: { restartPolicy: 'Never', containers } };
    const size = { completionMode: 'Indexed', parallelism: 2, completions: 2 };
    return client.create(Jobs, { metadata: { namespace, name }, spec: { ...size, template, ...spec } }, signal);
  }

  /** Jobs whose pods are scheduled together, and Jobs that are left as they were, each for another reason. */
  async function play(stage: Stage, signal: AbortSignal): Promise<void> {
    const { client, namespace } = stage;
    const untilDone = (name: string): Promise<unknown> =>
      eventually(async () => {
        const { status } = await client.get(Jobs, objectKey(namespace, name), signal);
        return status?.completionTime !== undefined;
      }, signal);
    await createJob(stage, 'gang', {}, signal);
    await createJob(stage, 'single', { parallelism: 1, completions: 1 }, signal);
    await createJob(stage, 'queue', { completionMode: 'NonIndexed' }, signal);
    await createJob(stage, 'waves', { completions: 3 }, signal);
    const grouped = { restartPolicy: 'Never', containers, schedulingGroup: { podGroupName: 'mine' } };
    await createJob(stage, 'chosen', { template: { metadata: { annotations: finishing }, spec: grouped } }, signal);
    await createJob(stage, 'late', { suspend: true }, signal);
    for (const name of ['gang', 'single', 'queue', 'waves', 'chosen']) await untilDone(name);
    await client.patch(
      Jobs,
      objectKey(namespace, 'late'),
      { type: 'merge', body: { spec: { suspend: false } } },
      signal,
    );
    await untilDone('late');
  }

  test('of a gang have a Workload and a PodGroup, as with the Go manager', async ({ signal }) => {
    void nodes();
    const kinds = [Jobs, Pods, Workloads, PodGroups, CoreEvents];
    const scenario: Scenario = { controllers: ['job-controller'], flags, kinds, run: play };
    expect(await runWithBoth(cluster(), scenario, {}, signal)).toEqual([]);
  });

  test('use the objects that they own, and no others', async ({ signal }) => {
    const { client } = nodes();
    const namespace = await createNamespace(cluster());
    const stage = { client, namespace, cluster: cluster(), manager: 'ours' } as const;
    const jobs = [await createJob(stage, 'own', {}, signal), await createJob(stage, 'foreign', {}, signal)];
    for (const job of jobs) {
      const { name } = job.metadata;
      const ownerReferences = name === 'own' ? [controllerReference(Jobs, job)] : [];
      const spec = {
        controllerRef: { apiGroup: 'batch', kind: 'Job', name },
        podGroupTemplates: [{ name: 'all', schedulingPolicy: { basic: {} } }],
      };
      await client.create(
        Workloads,
        { metadata: { namespace, name: `made-for-${name}`, ownerReferences }, spec },
        signal,
      );
    }
    const manager = await startManager(cluster(), [
      '--controllers=job-controller',
      '--leader-elect=false',
      '--use-service-account-credentials=true',
      ...flags,
    ]);
    await eventually(async () => {
      const { items } = await client.listAll(Jobs, { namespace }, signal);
      return items.every(({ status }) => status?.completionTime !== undefined);
    }, signal);
    const { items: groups } = await client.listAll(PodGroups, { namespace }, signal);
    expect(groups.map(({ spec }) => spec.podGroupTemplateRef?.workload)).toEqual([
      { workloadName: 'made-for-own', podGroupTemplateName: 'all' },
    ]);
    const { items: pods } = await client.listAll(Pods, { namespace }, signal);
    const groupsOfPods = pods.map(({ metadata, spec }) => {
      return `${metadata.labels?.['job-name']} ${spec.schedulingGroup?.podGroupName}`;
    });
    const own = `own ${groups[0]?.metadata.name}`;
    const foreign = 'foreign undefined';
    expect(groupsOfPods.toSorted()).toEqual([foreign, foreign, own, own]);
    expect(await manager.stop()).toBe(0);
  });
});

test('a manager whose gates are on gets on without the APIs', async ({ signal }) => {
  const controllers = '--controllers=podgroup-protection-controller,job-controller';
  const manager = await startManager(useSharedCluster(), ['--leader-elect=false', ...flags, controllers]);
  await eventually(async () => manager.logs().includes('PodGroups are not served'), signal);
  await eventually(async () => manager.logs().includes('Workloads are not served'), signal);
  for (const path of ['/healthz', '/readyz']) expect((await manager.get(path)).status).toBe(200);
  expect(await manager.stop()).toBe(0);
});
