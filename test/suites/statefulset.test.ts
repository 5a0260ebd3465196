import { beforeAll, describe, expect, test } from 'vitest';

import {
  ControllerRevisions,
  CoreEvents,
  PersistentVolumeClaims,
  Pods,
  StatefulSets,
  type ControllerRevision,
  type CoreEvent,
  type KubeObject,
  type PersistentVolumeClaim,
  type Pod,
  type StatefulSet,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import type { State } from '../support/compare-state.ts';
import { compareWithGo, runWith, runWithBoth, type Scenario, type Stage } from '../support/side-by-side.ts';
import { StatefulSetUser } from '../support/stateful-set-user.ts';
import { deleteWithClaims, runAtRandom, runStatefulSetScenarios } from '../support/statefulset-scenarios.ts';
import { handOver } from '../support/statefulset-hand-over.ts';
import { useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

// The server drops `maxUnavailable` unless its own gate is on.
const cluster = useCluster({ featureGates: { MaxUnavailableStatefulSet: true } });
const nodes = useNodes(cluster, { nodes: 3, podStopDelayMs: 0 });
let ours: State;

const userOf = ({ client, namespace }: Stage, signal: AbortSignal): StatefulSetUser =>
  new StatefulSetUser(client, namespace, signal);
const base = {
  controllers: ['statefulset-controller'],
  kinds: [StatefulSets, ControllerRevisions, PersistentVolumeClaims, Pods, CoreEvents],
  flags: ['--kube-api-qps=500', '--kube-api-burst=500', '--concurrent-statefulset-syncs=10'],
};
const scenario: Scenario = { ...base, run: (stage, signal) => runStatefulSetScenarios(userOf(stage, signal)) };

beforeAll(async () => {
  ours = await runWith('ours', cluster(), scenario, nodes().signal);
});

function objectsOf<T extends KubeObject>(kind: string): (T & UntypedObject)[] {
  const dumped = ours.objects.filter((known) => known.kind === kind);
  return dumped.map(({ object }) => object as T & UntypedObject); // they were listed by kind
}

function setNamed(name: string): StatefulSet {
  const found = objectsOf<StatefulSet>('StatefulSet').find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no set ${name}`);
  return found;
}

const labelled = <T extends KubeObject>(kind: string, app: string): (T & UntypedObject)[] =>
  objectsOf<T>(kind).filter(({ metadata }) => metadata.labels?.['app'] === app);
const namesOf = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name).sort();
const eventsOf = (name: string): CoreEvent[] =>
  objectsOf<CoreEvent>('Event').filter(({ involvedObject }) => involvedObject.name === name);

test('ends in the same state with both controller managers', async () => {
  const runGo = () => runWith('go', cluster(), scenario, nodes().signal);
  // Whether a pod is still pending when its claim gets its owner, which costs an event, is a matter of milliseconds.
  const ignore = ['Event:StatefulSet delete-* Normal SuccessfulUpdate *'];
  expect(await compareWithGo(ours, runGo, { ignore })).toEqual([]);
});

describe('a StatefulSet', () => {
  const rows = [
    { name: 'ordered', does: 'has the lowest ordinals after a scale-down', pods: ['ordered-0'] },
    { name: 'parallel', does: 'has the lowest ordinals in parallel too', pods: ['parallel-0'] },
    { name: 'without-pods', does: 'may have no pods', pods: [] },
    { name: 'start-ordinal', does: 'follows its first ordinal', pods: ['start-ordinal-6', 'start-ordinal-7'] },
    { name: 'refused', does: 'has no pods if they are refused', pods: [] },
    { name: 'never-ready', does: 'waits for a pod that is not ready', pods: ['never-ready-0'] },
    {
      name: 'adopts-orphans',
      does: 'adopts pods with its name',
      pods: ['adopts-orphans-0', 'adopts-orphans-1', 'adopts-orphans-other'],
    },
    { name: 'releases-relabelled', does: 'releases pods', pods: ['releases-relabelled-0'] },
    {
      name: 'scales-down-past-unhealthy',
      does: 'deletes pods above one that is not ready',
      pods: ['scales-down-past-unhealthy-0'],
    },
    { name: 'being-deleted', does: 'replaces nothing while it is being deleted', pods: ['being-deleted-1'] },
  ];
  for (const { name, does, pods } of rows) {
    test(`${does}: ${name}`, () => {
      expect(namesOf(labelled<Pod>('Pod', name))).toEqual(pods);
      const { metadata, status } = setNamed(name);
      expect(status?.observedGeneration).toBe(metadata.generation);
    });
  }

  test('creates one pod after the other, and deletes them in reverse order', () => {
    const inOrder = eventsOf('ordered').sort(
      (a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion),
    );
    const created = inOrder.filter(({ reason }) => reason === 'SuccessfulCreate').map(({ message }) => message);
    expect(created).toEqual([0, 1, 2, 3].map((i) => `Create Pod ordered-${i} in StatefulSet ordered successful`));
    const deleted = inOrder.filter(({ reason }) => reason === 'SuccessfulDelete').map(({ message }) => message);
    expect(deleted).toEqual([3, 2, 1].map((i) => `Delete Pod ordered-${i} in StatefulSet ordered successful`));
  });

  for (const name of ['updated', 'updated-without-settings', 'unscheduled-in-parallel']) {
    test(`deletes each pod once for an update: ${name}`, () => {
      const deleted = eventsOf(name).filter(({ reason }) => reason === 'SuccessfulDelete');
      expect(deleted.map(({ count }) => count ?? 1)).toEqual(labelled('Pod', name).map(() => 1));
    });
  }

  const retention = [
    { name: 'retain-retain', owners: [[], []] },
    { name: 'retain-delete', owners: [[], ['Pod']] },
    { name: 'delete-retain', owners: [['StatefulSet'], ['StatefulSet']] },
    { name: 'delete-delete', owners: [['StatefulSet'], ['Pod']] },
  ];
  for (const { name, owners } of retention) {
    test(`leaves its claims to ${owners.flat().join(' and ') || 'nobody'} after a scale-down: ${name}`, () => {
      const claims = labelled<PersistentVolumeClaim>('PersistentVolumeClaim', name);
      expect(namesOf(claims)).toEqual([`data-${name}-0`, `data-${name}-1`]);
      expect(claims.map(({ metadata }) => metadata.ownerReferences?.map(({ kind }) => kind) ?? [])).toEqual(owners);
    });
  }

  test('keeps pods below the partition at the current revision, also if they are replaced', () => {
    const { currentRevision, updateRevision } = setNamed('partition').status ?? {};
    const revisions = labelled<Pod>('Pod', 'partition').map(
      ({ metadata }) => metadata.labels?.['controller-revision-hash'],
    );
    expect(revisions).toEqual([currentRevision, updateRevision, updateRevision]);
  });

  test('uses another name for a revision whose name is in use', () => {
    expect(setNamed('revision-taken').status?.collisionCount).toBe(1);
  });

  test('adopts a revision that means the same as its template', () => {
    expect(setNamed('older-revision').status?.updateRevision).toBe('older-revision-old');
  });

  test('keeps to its history limit', () => {
    const numbers = labelled<ControllerRevision>('ControllerRevision', 'short-history').map(({ revision }) => revision);
    expect(new Set(numbers)).toEqual(new Set([3, 4]));
  });
});

test('updates maxUnavailable pods at once with both policies, as the Go binary does', async () => {
  const limited: Scenario = {
    ...base,
    flags: [...base.flags, '--feature-gates=MaxUnavailableStatefulSet=true'],
    async run(stage, signal) {
      const user = userOf(stage, signal);
      const limits = [{ maxUnavailable: '50%' }, { maxUnavailable: 2 }, { maxUnavailable: 2, partition: 2 }];
      const sets = ['Parallel', 'OrderedReady'].flatMap((podManagementPolicy) =>
        limits.map((rollingUpdate, index) => ({
          name: `${podManagementPolicy.toLowerCase()}-${index}`,
          updated: 5 - (rollingUpdate.partition ?? 0),
          spec: { replicas: 5, podManagementPolicy, updateStrategy: { type: 'RollingUpdate', rollingUpdate } },
        })),
      );
      for (const { name, spec } of sets) await user.statefulSet(name, spec);
      for (const { name } of sets) await user.untilSettled(name, 5);
      for (const { name } of sets) await user.update(name, 'two');
      for (const { name, updated } of sets) await user.untilSettled(name, 5, { updated });
    },
  };
  expect(await runWithBoth(cluster(), limited, {}, nodes().signal)).toEqual([]);
});

test('keeps or deletes claims with their set, in all four combinations, as the Go binary does', async () => {
  const deletion: Scenario = {
    ...base,
    controllers: [...base.controllers, 'garbage-collector-controller', 'persistentvolumeclaim-protection-controller'],
    kinds: [StatefulSets, PersistentVolumeClaims, Pods],
    run: (stage, signal) => deleteWithClaims(userOf(stage, signal)),
  };
  expect(await runWithBoth(cluster(), deletion, {}, nodes().signal)).toEqual([]);
});

test('ends in the same state after the same changes in random order', async () => {
  const seed = 20_260_117;
  const random: Scenario = {
    ...base,
    kinds: [StatefulSets, ControllerRevisions, Pods], // a short-lived pod may leave a claim
    run: (stage, signal) => runAtRandom(userOf(stage, signal), seed),
  };
  expect(await runWithBoth(cluster(), random, {}, nodes().signal)).toEqual([]);
});

describe('a cluster that is moved', () => {
  for (const [from, to] of [
    ['go', 'ours'],
    ['ours', 'go'],
  ] as const) {
    test(`from ${from} to ${to} gets no new revision and restarts no pod`, async () => {
      const { before, after } = await handOver(cluster(), { from, to, signal: nodes().signal });
      expect(after).toEqual(before);
      expect(before.pods).toHaveLength(4);
    });
  }
});
