import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import {
  ControllerRevisions,
  CoreEvents,
  DaemonSets,
  Deployments,
  findCondition,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  StatefulSets,
  type CoreEvent,
  type KubeObject,
  type Pod,
  type PodDisruptionBudget,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import { apiErrorOf } from '../../pkg/client/index.ts';
import { BudgetUser, defineCustomResources } from '../support/budget-user.ts';
import type { State } from '../support/compare-state.ts';
import { runBudgetsAtRandom, runDisruptionScenarios } from '../support/disruption-scenarios.ts';
import { eventually } from '../support/eventually.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { compareWithGo, runWith, runWithBoth, type Scenario } from '../support/side-by-side.ts';
import { createNamespace, useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster();
const nodes = useNodes(cluster, { nodes: 3, podStopDelayMs: 0 });
let ours: State;

const controllers = [
  'disruption-controller',
  'deployment-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'job-controller',
  'statefulset-controller',
  'daemonset-controller',
];

const scenario: Scenario = {
  controllers,
  // The workloads that own pods and events identify them.
  kinds: [
    PodDisruptionBudgets,
    Pods,
    ReplicaSets,
    Deployments,
    StatefulSets,
    DaemonSets,
    ControllerRevisions,
    CoreEvents,
  ],
  flags: ['--kube-api-qps=500', '--kube-api-burst=500'],
  run: ({ client, namespace }, signal) => runDisruptionScenarios(new BudgetUser(client, namespace, signal)),
};

beforeAll(async () => {
  await defineCustomResources(nodes().client, nodes().signal);
  ours = await runWith('ours', cluster(), scenario, nodes().signal);
});

function objectsOf<T extends KubeObject>(kind: string): (T & UntypedObject)[] {
  const dumped = ours.objects.filter((known) => known.kind === kind);
  return dumped.map(({ object }) => object as T & UntypedObject); // they were listed by kind
}

function budgetNamed(name: string): PodDisruptionBudget {
  const found = objectsOf<PodDisruptionBudget>('PodDisruptionBudget').find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no budget ${name}`);
  return found;
}

const eventsOf = (name: string): string[] =>
  objectsOf<CoreEvent>('Event')
    .filter(({ involvedObject }) => involvedObject.name === name && involvedObject.kind === 'PodDisruptionBudget')
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

test('budgets end in the same state, with the same events, with both controller managers', async () => {
  const runGo = () => runWith('go', cluster(), scenario, nodes().signal);
  const ignore = ['Event:ReplicaSet evicted Normal SuccessfulCreate *']; // these name deleted pods
  expect(await compareWithGo(ours, runGo, { ignore })).toEqual([]);
});

test('budgets end in the same state after the same changes in random order', async () => {
  const random: Scenario = {
    ...scenario,
    kinds: [PodDisruptionBudgets, ReplicaSets],
    run: ({ client, namespace }, signal) => runBudgetsAtRandom(new BudgetUser(client, namespace, signal), 20_261_118),
  };
  expect(await runWithBoth(cluster(), random, {}, nodes().signal)).toEqual([]);
});

describe('a budget', () => {
  type Numbers = readonly [expected: number, desired: number, healthy: number, allowed: number];
  const rows: { name: string; does: string; numbers: Numbers }[] = [
    { name: 'min-available', does: 'keeps minAvailable pods', numbers: [3, 2, 3, 1] },
    { name: 'min-available-share', does: 'keeps a percentage of a Deployment', numbers: [3, 2, 3, 1] },
    { name: 'max-unavailable', does: 'allows maxUnavailable of a ReplicationController', numbers: [3, 1, 3, 2] },
    { name: 'max-unavailable-share', does: 'allows a percentage, rounded up', numbers: [3, 2, 3, 1] },
    { name: 'stateful-set', does: 'allows a percentage of a StatefulSet', numbers: [3, 1, 3, 2] },
    { name: 'more-than-there-are', does: 'may require more pods than exist', numbers: [2, 5, 2, 0] },
    { name: 'changed', does: 'follows its spec', numbers: [3, 1, 3, 2] },
    { name: 'budget-first', does: 'may exist before its pods', numbers: [2, 1, 2, 1] },
    { name: 'not-ready', does: 'counts ready pods only', numbers: [2, 1, 0, 0] },
    { name: 'scaled', does: 'follows the scale of its controller', numbers: [4, 2, 4, 2] },
    { name: 'evicted', does: 'allows evictions one after the other', numbers: [3, 2, 3, 1] },
    { name: 'custom-resource', does: 'finds the scale of a custom resource', numbers: [4, 1, 1, 0] },
    { name: 'many-controllers', does: 'adds up the scales of many controllers', numbers: [50, 25, 14, 0] },
    { name: 'unmanaged', does: 'expects no pod without a controller', numbers: [0, 0, 1, 0] },
    { name: 'without-selector', does: 'guards nothing without a selector', numbers: [0, 1, 0, 0] },
  ];
  for (const { name, does, numbers } of rows) {
    test(`${does}: ${name}`, () => {
      const { metadata, status } = budgetNamed(name);
      const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed } = status ?? {};
      expect([expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed]).toEqual(numbers);
      expect(status?.observedGeneration).toBe(metadata.generation);
      const condition = findCondition(status?.conditions, 'DisruptionAllowed');
      expect(condition?.reason).toBe((disruptionsAllowed ?? 0) > 0 ? 'SufficientPods' : 'InsufficientPods');
    });
  }

  const failures = {
    'custom-resource-gone': 'found no controllers for pod "custom-resource-gone"',
    'many-controllers-without-scale': 'crowds.budgets.example.com does not implement the scale subresource',
    'custom-resource-without-scale': 'crowds.budgets.example.com does not implement the scale subresource',
    'unknown-kind': 'no matches for kind "Nothing" in version "budgets.example.com/v1"',
    'daemon-set': 'daemonsets.apps does not implement the scale subresource',
    job: 'jobs.batch does not implement the scale subresource',
  };
  for (const [name, message] of Object.entries(failures)) {
    test(`reports why it allows no disruption: ${name}`, () => {
      const { status } = budgetNamed(name);
      const condition = findCondition(status?.conditions, 'DisruptionAllowed');
      expect(condition).toMatchObject({ status: 'False', reason: 'SyncFailed', message });
      expect(status?.disruptionsAllowed).toBe(0);
      expect(eventsOf(name)).toEqual([
        `Warning CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: ${message}`,
      ]);
    });
  }

  test('waits for evicted pods for two minutes', () => {
    const { status } = budgetNamed('not-deleted');
    expect(Object.keys(status?.disruptedPods ?? {})).toHaveLength(1);
    expect(budgetNamed('not-deleted-in-time').status?.disruptedPods).toBeUndefined();
  });

  test('records events about missing pods, and pods without a controller', () => {
    expect(eventsOf('without-selector')).toEqual(['Normal NoPods: No matching pods found']);
    expect(eventsOf('unmanaged')[0]).toContain('Values:[unmanaged b],},},}) were found to be unmanaged.');
    expect(eventsOf('unmanaged-number')).toEqual([]);
  });
});

test('a stale DisruptionTarget condition is set to False, but not the one of a kubelet', () => {
  const podNamed = (name: string) => objectsOf<Pod>('Pod').find(({ metadata }) => metadata.name === name);
  const targetOf = (name: string) => findCondition(podNamed(name)?.status?.conditions, 'DisruptionTarget');
  const { generation: observedGeneration } = podNamed('stale-target')?.metadata ?? {};
  expect(targetOf('stale-target')).toMatchObject({ status: 'False', observedGeneration });
  expect(targetOf('stale-target')?.reason).toBeUndefined();
  expect(targetOf('kubelet-target')?.status).toBe('True');
});

test('an empty selector guards every pod of the namespace, as with the Go binary', async () => {
  const everything: Scenario = {
    controllers: ['disruption-controller'],
    kinds: [PodDisruptionBudgets, Pods, CoreEvents],
    async run({ client, namespace }, signal) {
      const user = new BudgetUser(client, namespace, signal);
      for (const name of ['a', 'b']) await user.readyPod(name, name);
      await user.budget('everything', { minAvailable: 1, selector: {} });
      await user.untilBudget('everything', { expectedPods: 2, currentHealthy: 2, disruptionsAllowed: 1 });
    },
  };
  expect(await runWithBoth(cluster(), everything, {}, nodes().signal)).toEqual([]);
});

describe('our controller', () => {
  const flags = ['--controllers=disruption-controller', '--leader-elect=false', '--use-service-account-credentials'];
  let manager: Manager;
  let user: BudgetUser;

  beforeAll(async () => {
    manager = await startManager(cluster(), flags);
  });
  afterAll(() => manager?.stop());
  beforeEach(async ({ signal }) => {
    user = new BudgetUser(nodes().client, await createNamespace(cluster()), signal);
  });

  test('keeps the status of every budget of a pod, and warns of several', async ({ signal }) => {
    const pod = await user.readyPod('shared', 'shared');
    const selector = { matchLabels: { app: 'shared' } };
    for (const name of ['shared', 'another']) await user.budget(name, { minAvailable: 0, selector });
    for (const name of ['shared', 'another']) await user.untilBudget(name, { disruptionsAllowed: 1 });
    await user.patchPod(pod, { metadata: { annotations: { 'hollow-node/never-ready': 'true' } } });
    for (const name of ['shared', 'another']) await user.untilBudget(name, { disruptionsAllowed: 0 });
    const { namespace } = user;
    const message = `Pod "${namespace}"/"shared" matches multiple PodDisruptionBudgets.  Chose "another" arbitrarily.`;
    const warnings = await eventually(async () => {
      const { items } = await user.client.listAll(CoreEvents, { namespace }, signal);
      return items.length > 0 && items;
    }, signal);
    expect(warnings[0]).toMatchObject({ type: 'Warning', reason: 'MultiplePodDisruptionBudgets', message });

    const path = `/api/v1/namespaces/${namespace}/pods/shared/eviction`;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'shared', namespace } };
    const answer = await cluster().request({ method: 'POST', path, body });
    expect(answer.status).toBe(500);
    const refusal = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    expect(answer.body).toMatchObject({ status: 'Failure', message: refusal });
  });

  test('the API server refuses an eviction that the budget does not allow, and gives the reason', async () => {
    const pod = await user.readyPod('guarded', 'guarded');
    await user.budget('guarded', { minAvailable: 1 });
    await user.untilBudget('guarded', { currentHealthy: 1 });
    const refusal = apiErrorOf(await user.tryToEvict(pod));
    expect(refusal?.serverMessage).toBe("Cannot evict pod as it would violate the pod's disruption budget.");
    const message = 'The disruption budget guarded needs 1 healthy pods and has 1 currently';
    expect(refusal?.causes).toEqual([{ reason: 'DisruptionBudget', message }]);
  });

  test('an unhealthy pod may be evicted while enough others are healthy', async () => {
    const healthy = await user.readyPod('healthy', 'guarded');
    const annotations = { 'hollow-node/never-ready': 'true' };
    const sick = await user.pod('sick', { app: 'guarded', annotations });
    await user.until(Pods, 'sick', ({ status }) => status?.phase === 'Running');
    await user.budget('guarded', { minAvailable: 1, unhealthyPodEvictionPolicy: 'IfHealthyBudget' });
    await user.untilBudget('guarded', { expectedPods: 2, currentHealthy: 1, disruptionsAllowed: 0 });
    expect(apiErrorOf(await user.tryToEvict(healthy))?.causes).toMatchObject([{ reason: 'DisruptionBudget' }]);
    expect(await user.tryToEvict(sick)).toBeUndefined();
    await user.untilBudget('guarded', { expectedPods: 1, currentHealthy: 1 });
    expect(apiErrorOf(await user.tryToEvict(healthy))?.causes).toMatchObject([{ reason: 'DisruptionBudget' }]);
  });

  test('an unhealthy pod may be evicted with AlwaysAllow', async ({ signal }) => {
    for (const name of ['guarded', 'free']) {
      await user.pod(name, { app: name, annotations: { 'hollow-node/never-ready': 'true' } });
      await user.until(Pods, name, ({ status }) => status?.phase === 'Running');
    }
    await user.budget('guarded', { minAvailable: 1 });
    await user.budget('free', { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    for (const name of ['guarded', 'free']) await user.untilBudget(name, { expectedPods: 1, currentHealthy: 0 });
    const { items } = await user.client.listAll(Pods, { namespace: user.namespace }, signal);
    const isEvicted = async (name: string): Promise<boolean> => {
      const pod = items.find(({ metadata }) => metadata.name === name);
      return pod !== undefined && (await user.tryToEvict(pod)) === undefined;
    };
    expect([await isEvicted('guarded'), await isEvicted('free')]).toEqual([false, true]);
  });

  test('has the queues of the Go binary', async () => {
    const { body } = await manager.get('/metrics');
    for (const name of ['disruption', 'disruption_recheck', 'stale_pod_disruption'])
      expect(body).toContain(`workqueue_adds_total{name="${name}"}`);
  });
});
