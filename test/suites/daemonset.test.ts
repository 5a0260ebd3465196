import { beforeAll, describe, expect, test } from 'vitest';
import {
  ControllerRevisions,
  CoreEvents,
  DaemonSets,
  Pods,
  type ControllerRevision,
  type CoreEvent,
  type DaemonSet,
  type KubeObject,
  type Pod,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import type { State } from '../support/compare-state.ts';
import {
  changeAtRandom,
  daemonSetScenarios,
  nodesEach,
  runDaemonSetScenarios,
} from '../support/daemonset-scenarios.ts';
import { DaemonSetUser } from '../support/daemonset-user.ts';
import { compareWithGo, runWith, runWithBoth, type Scenario } from '../support/side-by-side.ts';
import { useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster();
const nodes = useNodes(cluster, { nodes: Object.keys(daemonSetScenarios).length * nodesEach, podStopDelayMs: 0 });
let ours: State;

const scenario: Scenario = {
  controllers: ['daemonset-controller', 'garbage-collector-controller'],
  kinds: [DaemonSets, ControllerRevisions, Pods, CoreEvents],
  flags: ['--kube-api-qps=500', '--kube-api-burst=500'],
  run: ({ client, namespace }, signal) =>
    runDaemonSetScenarios(new DaemonSetUser(client, namespace, signal), nodes().hollow.nodeNames),
};

beforeAll(async () => {
  ours = await runWith('ours', cluster(), scenario, nodes().signal);
});

function objectsOf<T extends KubeObject>(kind: string): (T & UntypedObject)[] {
  const dumped = ours.objects.filter((known) => known.kind === kind);
  return dumped.map(({ object }) => object as T & UntypedObject); // they were listed by kind
}

const podsLabelled = (app: string): Pod[] =>
  objectsOf<Pod>('Pod').filter(({ metadata }) => metadata.labels?.['app'] === app);
const revisionsLabelled = (app: string): ControllerRevision[] =>
  objectsOf<ControllerRevision>('ControllerRevision')
    .filter(({ metadata }) => metadata.labels?.['app'] === app)
    .sort((a, b) => a.revision - b.revision);
const reasonsOf = (name: string): string[] =>
  objectsOf<CoreEvent>('Event')
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason = '' }) => reason);

test('end in the same state with both controller managers', async () => {
  const runGo = () => runWith('go', cluster(), scenario, nodes().signal);
  // The random part of the names of its pods is not in any other object.
  const ignore = ['Event:DaemonSet is-deleted-in-foreground *'];
  expect(await compareWithGo(ours, runGo, { ignore })).toEqual([]);
});

test('end in the same state after the same changes in random order', async () => {
  const seed = Number(process.env['DAEMONSET_SEED'] ?? 1);
  const random: Scenario = {
    ...scenario,
    kinds: [DaemonSets, ControllerRevisions, Pods],
    run: ({ client, namespace }, signal) =>
      changeAtRandom(new DaemonSetUser(client, namespace, signal), seed, nodes().hollow.nodeNames),
  };
  expect(await runWithBoth(cluster(), random, {}, nodes().signal)).toEqual([]);
});

describe('a DaemonSet', () => {
  const rows: {
    name: string;
    does: string;
    pods?: number;
    status?: DaemonSet['status'] | object;
    revisions?: number[];
  }[] = [
    { name: 'follows-labels', does: 'runs on the nodes of its node selector' },
    { name: 'follows-affinity', does: 'runs on the nodes of its affinity', pods: 2 },
    {
      name: 'leaves-misscheduled',
      does: 'keeps a pod on a node with NoSchedule, and removes it from a node with NoExecute',
      pods: 2,
      status: { numberMisscheduled: 1, desiredNumberScheduled: 1 },
    },
    { name: 'returns-after-taint', does: 'runs again when a taint is removed' },
    { name: 'tolerates-trouble', does: 'tolerates conditions of nodes, but not an unavailable network', pods: 2 },
    {
      name: 'waits-for-ready-nodes',
      does: 'starts no pod on a node that is not ready, and keeps one that is there',
      status: { numberMisscheduled: 1, desiredNumberScheduled: 2 },
    },
    { name: 'host-network', does: 'tolerates an unavailable network with hostNetwork' },
    { name: 'nodes-come-and-go', does: 'follows added and deleted nodes' },
    { name: 'removes-duplicates', does: 'keeps the oldest pod of a node' },
    { name: 'adopts-and-replaces', does: 'adopts a pod, and replaces it as one of an old template' },
    { name: 'releases-relabelled', does: 'releases a pod that it no longer selects' },
    { name: 'replaces-deleted', does: 'replaces a deleted pod' },
    { name: 'replaces-failed', does: 'replaces failed pods' },
    { name: 'replaces-succeeded', does: 'replaces a succeeded pod' },
    { name: 'rolls-out', does: 'replaces pods after a change of its template', revisions: [1, 2] },
    { name: 'rolls-out-with-surge', does: 'replaces pods with surge', revisions: [1, 2] },
    { name: 'rolls-out-with-surge-share', does: 'replaces pods with a surge in percent', revisions: [1, 2] },
    { name: 'rolls-back-stuck-update', does: 'renumbers the revision of an earlier template', revisions: [2, 3] },
    {
      name: 'stuck-surge',
      does: 'keeps old pods while new ones are not ready',
      pods: 4,
      status: { desiredNumberScheduled: 3, numberReady: 3 },
      revisions: [1, 2],
    },
    {
      name: 'on-delete',
      does: 'replaces pods on delete only',
      status: { updatedNumberScheduled: 1 },
      revisions: [1, 2],
    },
    { name: 'min-ready-seconds', does: 'waits until pods have been ready for long enough' },
    { name: 'keeps-history', does: 'keeps to its history limit', revisions: [4, 5] },
    { name: 'refused', does: 'has no pods if they are refused', pods: 0, status: { desiredNumberScheduled: 3 } },
    { name: 'survives-orphaning', does: 'adopts pods and revisions of its predecessor' },
  ];
  for (const { name, does, pods = 3, status, revisions = [1] } of rows) {
    test(`${does}: ${name}`, () => {
      const found = objectsOf<DaemonSet>('DaemonSet').find(({ metadata }) => metadata.name === name);
      const settled = { desiredNumberScheduled: pods, currentNumberScheduled: pods, numberMisscheduled: 0 };
      expect(found?.status).toMatchObject(status ?? { ...settled, observedGeneration: found?.metadata.generation });
      expect(podsLabelled(name)).toHaveLength(pods);
      expect(revisionsLabelled(name).map(({ revision }) => revision)).toEqual(revisions);
    });
  }

  test('is deleted in the foreground', () => {
    expect(objectsOf('DaemonSet').map(({ metadata }) => metadata.name)).not.toContain('is-deleted-in-foreground');
  });

  test('records events for replaced pods', () => {
    expect(reasonsOf('replaces-failed')).toContain('FailedDaemonPod');
    expect(reasonsOf('replaces-succeeded')).toContain('SucceededDaemonPod');
    expect(reasonsOf('refused')).toContain('FailedCreate');
  });
});
