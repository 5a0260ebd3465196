import { beforeAll, describe, expect, test } from 'vitest';
import {
  CoreEvents,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  type CoreEvent,
  type KubeObject,
  type Pod,
  type ReplicaSet,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import type { State } from '../support/compare-state.ts';
import { eventually } from '../support/eventually.ts';
import { startManager } from '../support/manager.ts';
import { runReplicaSetScenarios } from '../support/replicaset-scenarios.ts';
import { compareWithGo, runWith, type Scenario } from '../support/side-by-side.ts';
import { WorkloadUser } from '../support/workload-user.ts';
import { createNamespace, useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster();
const nodes = useNodes(cluster, { nodes: 3, podStopDelayMs: 0 });
let client: Client;
let ours: State;

const scenario: Scenario = {
  controllers: ['replicaset-controller', 'replicationcontroller-controller'],
  kinds: [ReplicaSets, ReplicationControllers, Pods, CoreEvents],
  flags: ['--kube-api-qps=500', '--kube-api-burst=500'],
  run: ({ client, namespace }, signal) => runReplicaSetScenarios(new WorkloadUser(client, namespace, signal)),
};

beforeAll(async () => {
  ({ client } = nodes());
  ours = await runWith('ours', cluster(), scenario, nodes().signal);
});

function objectsOf<T extends KubeObject>(kind: string): (T & UntypedObject)[] {
  const dumped = ours.objects.filter((known) => known.kind === kind);
  return dumped.map(({ object }) => object as T & UntypedObject); // they were listed by kind
}

function setNamed(name: string): ReplicaSet {
  const found = [...objectsOf<ReplicaSet>('ReplicaSet'), ...objectsOf<ReplicaSet>('ReplicationController')].find(
    ({ metadata }) => metadata.name === name,
  );
  if (found === undefined) throw new Error(`there is no object ${name}`);
  return found;
}

const podsLabelled = (app: string): Pod[] =>
  objectsOf<Pod>('Pod').filter(({ metadata }) => metadata.labels?.['app'] === app);

const eventsOf = (name: string): CoreEvent[] =>
  objectsOf<CoreEvent>('Event').filter(({ involvedObject }) => involvedObject.name === name);

test('end in the same state with both controller managers', async () => {
  const runGo = () => runWith('go', cluster(), scenario, nodes().signal);
  expect(await compareWithGo(ours, runGo)).toEqual([]);
});

describe('a ReplicaSet or ReplicationController', () => {
  const rows = [
    { name: 'scaled', does: 'has as many pods as were last requested', replicas: 2 },
    { name: 'without-pods', does: 'may have none', replicas: 0 },
    { name: 'replaces-deleted', does: 'replaces a pod that was deleted', replicas: 2 },
    { name: 'replaces-failed', does: 'replaces a failed pod without deleting it', replicas: 2, pods: 3 },
    { name: 'adopts-orphans', does: 'adopts pods that it selects, but no finished ones', replicas: 3, pods: 4 },
    { name: 'adopts-later', does: 'deletes a surplus pod, even an adopted one', replicas: 2 },
    { name: 'releases-relabelled', does: 'releases pods that it no longer selects', replicas: 2 },
    { name: 'leaves-others-alone', does: "counts nobody else's pods", replicas: 1, pods: 2 },
    { name: 'unready-goes-first', does: 'deletes pods that are not ready first', replicas: 2 },
    { name: 'cheapest-goes-first', does: 'keeps pods with the highest deletion cost', replicas: 1 },
    { name: 'min-ready-seconds', does: 'waits until pods have been ready for long enough', replicas: 2 },
    { name: 'never-ready', does: 'counts pods that are not ready', replicas: 2, ready: 0 },
    { name: 'refused', does: 'reports that its pods are refused', replicas: 0, conditions: ['FailedCreate'] },
    { name: 'refused-at-first', does: 'retries until they are accepted', replicas: 2 },
    { name: 'being-deleted', does: 'replaces nothing once it is being deleted', replicas: 1 },
    { name: 'controller-scaled', does: 'works for ReplicationControllers too', replicas: 1 },
    {
      name: 'controller-refused',
      does: 'reports refused pods of ReplicationControllers too',
      replicas: 0,
      conditions: ['FailedCreate'],
    },
  ];
  for (const { name, does, replicas, pods = replicas, ready = replicas, conditions = [] } of rows) {
    test(`${does}: ${name}`, () => {
      const { metadata, status } = setNamed(name);
      expect(podsLabelled(name)).toHaveLength(pods);
      expect(status?.conditions?.map(({ reason }) => reason) ?? []).toEqual(conditions);
      expect([status?.replicas, status?.readyReplicas ?? 0, status?.availableReplicas ?? 0]).toEqual([
        replicas,
        ready,
        ready,
      ]);
      expect(status?.observedGeneration).toBe(metadata.generation);
    });
  }

  test('counts the pods with the labels of the template', () => {
    expect(setNamed('adopts-orphans').status).toMatchObject({ replicas: 3, fullyLabeledReplicas: 2 });
  });

  test('shares a selector with another and keeps only its own pods', () => {
    for (const name of ['overlapping-a', 'overlapping-b']) expect(setNamed(name).status?.replicas).toBe(2);
    expect(podsLabelled('overlapping')).toHaveLength(4);
  });

  test('keeps the pod with the highest deletion cost', () => {
    const cost = 'controller.kubernetes.io/pod-deletion-cost';
    expect(podsLabelled('cheapest-goes-first').map(({ metadata }) => metadata.annotations?.[cost])).toEqual(['30']);
  });

  test('tries one pod at a time while all are refused', () => {
    const attempts = eventsOf('refused').reduce((sum, { count = 1 }) => sum + count, 0);
    expect(attempts).toBeLessThan(20); // of the hundred pods that are missing, again and again
  });

  test('records an event for every pod that it creates and deletes', () => {
    const told = eventsOf('scaled').map(({ reason }) => reason);
    expect(told.filter((reason) => reason === 'SuccessfulCreate')).toHaveLength(6);
    expect(told.filter((reason) => reason === 'SuccessfulDelete')).toHaveLength(4);
  });
});

describe('our controller', () => {
  const flags = ['--controllers=replicaset-controller', '--leader-elect=false', '--use-service-account-credentials'];

  test('counts terminating pods, and records metrics of deleted ones', async ({ signal }) => {
    await using manager = await startManager(cluster(), flags);
    const user = new WorkloadUser(client, await createNamespace(cluster()), signal);
    await user.replicaSet('web', { replicas: 3, annotations: { [podSettingNames.stopAfter]: '2s' } });
    await user.untilAvailable(ReplicaSets, 'web', 3);
    await user.scale(ReplicaSets, 'web', 1);
    await user.until(ReplicaSets, 'web', ({ status }) => status?.replicas === 1 && status.terminatingReplicas === 2);
    await user.until(ReplicaSets, 'web', ({ status }) => status?.replicas === 1 && status.terminatingReplicas === 0);
    const { body } = await manager.get('/metrics');
    expect(body).toContain('replicaset_controller_sorting_deletion_age_ratio_count 2');
    expect(body).toMatch(/replicaset_controller_stale_sync_skips_total\{group="",resource="pods"\} \d+/);
  });

  test('neither loses nor duplicates a pod when it crashes while creating them', async ({ signal }) => {
    const user = new WorkloadUser(client, await createNamespace(cluster()), signal);
    const wanted = 120;
    for (let crash = 0; crash < 2; crash++) {
      await using manager = await startManager(cluster(), flags);
      if (crash === 0) await user.replicaSet('many', { replicas: wanted });
      await eventually(async () => (await user.pods('many')).length > crash * 40, signal);
      await manager.kill();
    }
    await using _manager = await startManager(cluster(), flags);
    const settled = await user.untilAvailable(ReplicaSets, 'many', wanted);
    expect(await user.pods('many')).toHaveLength(wanted);
    expect(settled.metadata.generation).toBe(1);
    const { items } = await client.listAll(CoreEvents, { namespace: user.namespace }, signal);
    expect(items.filter(({ reason }) => reason === 'SuccessfulDelete')).toEqual([]);
  });
});
