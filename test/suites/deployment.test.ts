import { beforeAll, describe, expect, test } from 'vitest';
import {
  CoreEvents,
  Deployments,
  Pods,
  ReplicaSets,
  type CoreEvent,
  type Deployment,
  type KubeObject,
  type ReplicaSet,
  type UntypedObject,
} from '../../pkg/api/index.ts';

import type { State } from '../support/compare-state.ts';
import { runDeploymentScenarios } from '../support/deployment-scenarios.ts';
import { compareWithGo, runWith, type Scenario } from '../support/side-by-side.ts';
import { conditionsOf, WorkloadUser } from '../support/workload-user.ts';
import { useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster();
const nodes = useNodes(cluster, { nodes: 3, podStopDelayMs: 0 });
let ours: State;

const scenario: Scenario = {
  controllers: ['deployment-controller', 'replicaset-controller'],
  kinds: [Deployments, ReplicaSets, Pods, CoreEvents],
  flags: ['--kube-api-qps=500', '--kube-api-burst=500'],
  run: ({ client, namespace }, signal) => runDeploymentScenarios(new WorkloadUser(client, namespace, signal)),
};

beforeAll(async () => {
  ours = await runWith('ours', cluster(), scenario, nodes().signal);
});

test('ends in the same state with both controller managers', async () => {
  const runGo = () => runWith('go', cluster(), scenario, nodes().signal);
  const ignore = [
    // The number of steps depends on which pods become ready together.
    'Event:Deployment rolls-* ScalingReplicaSet *',
    'ReplicaSet:metadata.generation',
    'ReplicaSet:status.observedGeneration',
  ];
  expect(await compareWithGo(ours, runGo, { ignore })).toEqual([]);
});

function objectsOf<T extends KubeObject>(kind: string): (T & UntypedObject)[] {
  const dumped = ours.objects.filter((known) => known.kind === kind);
  return dumped.map(({ object }) => object as T & UntypedObject); // they were listed by kind
}

function deploymentNamed(name: string): Deployment {
  const found = objectsOf<Deployment>('Deployment').find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no Deployment ${name}`);
  return found;
}

const revisionOf = ({ metadata }: KubeObject): string =>
  metadata.annotations?.['deployment.kubernetes.io/revision'] ?? '';

/** Revision and size of each ReplicaSet, oldest first: `1:0 2:5`. */
function sizesOf(name: string): string {
  const owned = objectsOf<ReplicaSet>('ReplicaSet').filter(({ metadata }) => metadata.labels?.['app'] === name);
  const sizes = owned.map((set) => `${revisionOf(set)}:${String(set.spec.replicas ?? 0)}`);
  return sizes.sort().join(' ');
}

const eventsOf = (name: string): string[] =>
  objectsOf<CoreEvent>('Event')
    .filter(({ involvedObject }) => involvedObject.kind === 'Deployment' && involvedObject.name === name)
    .map(({ reason = '', message = '' }) => `${reason}: ${message}`);

const available = 'Available=True MinimumReplicasAvailable';
const unavailable = 'Available=False MinimumReplicasUnavailable';
const done = [available, 'Progressing=True NewReplicaSetAvailable'];
const failed = 'Progressing=False ProgressDeadlineExceeded';

describe('a Deployment', () => {
  const rows = [
    { name: 'rolls-by-percent', does: 'replaces old pods with new ones', sizes: '1:0 2:5', conditions: done },
    { name: 'rolls-without-surge', does: 'may be short of a pod', sizes: '1:0 2:2', conditions: done },
    { name: 'recreates', does: 'deletes the old pods before it creates new ones', sizes: '1:0 2:1', conditions: done },
    { name: 'created-paused', does: 'creates nothing until it is resumed', sizes: '1:2', conditions: done },
    {
      name: 'scaled-while-paused',
      does: 'is scaled but not rolled out while paused',
      sizes: '1:4',
      conditions: [available, 'Progressing=Unknown DeploymentPaused'],
    },
    {
      name: 'scaled-midway',
      does: 'scales its ReplicaSets in proportion',
      sizes: '1:14 2:9',
      conditions: [unavailable, 'Progressing=True ReplicaSetUpdated'],
    },
    { name: 'scaled-down-midway', does: 'has no pods at zero replicas', sizes: '1:0 2:0', conditions: done },
    { name: 'keeps-one-revision', does: 'deletes revisions beyond the limit', sizes: '3:0 4:1', conditions: done },
    { name: 'goes-back', does: 'reuses an old ReplicaSet', sizes: '2:0 3:0 4:2', conditions: done },
    { name: 'rolled-back-by-annotation', does: 'rolls back for old clients', sizes: '2:0 3:1', conditions: done },
    { name: 'misses-deadline', does: 'reports that it is stuck', sizes: '1:2', conditions: [unavailable, failed] },
    { name: 'recovers-from-deadline', does: 'continues with another template', sizes: '1:0 2:2', conditions: done },
    {
      name: 'without-deadline',
      does: 'never fails without a progress deadline',
      sizes: '1:1',
      conditions: [available],
    },
    { name: 'min-ready-seconds', does: 'waits for pods to be ready for long enough', sizes: '1:2', conditions: done },
    {
      name: 'pods-refused',
      does: 'reports why there are no pods',
      sizes: '1:2',
      conditions: [unavailable, failed, 'ReplicaFailure=True FailedCreate'],
    },
    { name: 'pods-refused-at-first', does: 'takes that back', sizes: '1:2', conditions: done },
    { name: 'rolls-over-a-bad-one', does: 'deletes unhealthy pods first', sizes: '1:0 2:0 3:4', conditions: done },
    { name: 'adopts-a-set', does: 'adopts a ReplicaSet with its template', sizes: '1:2', conditions: done },
    {
      name: 'adopts-an-old-set',
      does: 'adopts and scales down any other ReplicaSet',
      sizes: '1:2 :0',
      conditions: done,
    },
    { name: 'lets-go-and-collides', does: 'finds another name', sizes: '1:1', conditions: done },
    { name: 'loses-a-pod', does: 'stays complete when it loses a pod', sizes: '1:2', conditions: done },
    {
      name: 'being-deleted',
      does: 'only updates its status while it is being deleted',
      sizes: '1:1',
      conditions: done,
    },
    { name: 'without-pods', does: 'has revisions even without pods', sizes: '1:0 2:0', conditions: done },
  ];
  for (const { name, does, sizes, conditions } of rows) {
    test(`${does}: ${name}`, () => {
      expect(conditionsOf(deploymentNamed(name))).toEqual(conditions);
      expect(sizesOf(name)).toBe(sizes);
    });
  }

  test('copies its annotations to the newest ReplicaSet only', () => {
    const sets = objectsOf<ReplicaSet>('ReplicaSet').filter(
      ({ metadata }) => metadata.labels?.['app'] === 'rolls-by-percent',
    );
    const causes = sets.map((set) => `${revisionOf(set)} ${set.metadata.annotations?.['cause'] ?? ''}`);
    expect(causes.sort()).toEqual(['1 first', '2 second']);
  });

  test('keeps the former revisions of a reused ReplicaSet', () => {
    const sets = objectsOf<ReplicaSet>('ReplicaSet').filter(({ metadata }) => metadata.labels?.['app'] === 'goes-back');
    const newest = sets.find((set) => revisionOf(set) === '4');
    expect(newest?.metadata.annotations?.['deployment.kubernetes.io/revision-history']).toBe('1');
  });

  test('records an event for every step', () => {
    const told = eventsOf('scaled-midway').map((event) => event.replace(/scaled-midway-\S+/, 'set'));
    expect(told.sort()).toEqual([
      'ScalingReplicaSet: Scaled down replica set set from 10 to 8',
      'ScalingReplicaSet: Scaled up replica set set from 0 to 10',
      'ScalingReplicaSet: Scaled up replica set set from 0 to 3',
      'ScalingReplicaSet: Scaled up replica set set from 3 to 5',
      'ScalingReplicaSet: Scaled up replica set set from 5 to 9',
      'ScalingReplicaSet: Scaled up replica set set from 8 to 14',
    ]);
  });

  test('records whether it could roll back', () => {
    const told = eventsOf('rolled-back-by-annotation').filter((event) => !event.startsWith('Scaling'));
    expect(told.sort()).toEqual([
      'DeploymentRollback: Rolled back deployment "rolled-back-by-annotation" to revision 1',
      'DeploymentRollbackRevisionNotFound: Unable to find the revision to rollback to.',
    ]);
  });
});
