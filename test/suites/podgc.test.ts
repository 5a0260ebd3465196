import { expect, test } from 'vitest';

import {
  findCondition,
  type Node,
  Nodes,
  objectKey,
  type Pod,
  type PodSpec,
  Pods,
  type PodStatus,
} from '../../pkg/api/index.ts';
import { type Client, ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { type Cluster, startGoControllerManager } from '../cluster/index.ts';
import { compareStates, dumpState, type State } from '../support/compare-state.ts';
import { watchUntil } from '../support/eventually.ts';
import { startManager } from '../support/manager.ts';
import type { ManagerName } from '../support/side-by-side.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

// Both mostly wait for the quarantine to end, so they run in parallel. Each has its own cluster: the threshold counts
// the pods of all namespaces.
const ourCluster = useCluster();
const goCluster = useCluster();

const keep = 'example.com/keep';
const flags = [
  '--controllers=pod-garbage-collector-controller',
  '--leader-elect=false',
  '--use-service-account-credentials=true',
  '--terminated-pod-gc-threshold=3',
];

interface Stage {
  readonly client: Client;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

async function createNode({ client, signal }: Stage, name: string, node: Partial<Pick<Node, 'spec'>>, ready: string) {
  await client.create(Nodes, { metadata: { name }, spec: node.spec ?? {} }, signal);
  const body = { status: { conditions: [{ type: 'Ready', status: ready }] } };
  await client.patch(Nodes, objectKey(undefined, name), { type: 'strategic', subresource: 'status', body }, signal);
}

interface Wanted {
  readonly nodeName?: string;
  readonly status?: PodStatus;
  /** Deleted by its user. */
  readonly deleted?: boolean;
  /** Kept by a finalizer, so that its state can be compared. */
  readonly kept?: boolean;
}

async function createPod({ client, namespace, signal }: Stage, name: string, wanted: Wanted): Promise<void> {
  const { nodeName, status, deleted = false, kept = false } = wanted;
  const tolerations = [{ operator: 'Exists' }];
  const spec: PodSpec = { containers: [{ name: 'app', image: 'example' }], tolerations };
  if (nodeName !== undefined) spec.nodeName = nodeName;
  const metadata = { namespace, name, ...(kept ? { finalizers: [keep] } : {}) };
  await client.create(Pods, { metadata, spec }, signal);
  const key = objectKey(namespace, name);
  if (status !== undefined) {
    await client.patch(Pods, key, { type: 'strategic', subresource: 'status', body: { status } }, signal);
  }
  if (deleted) await client.delete(Pods, key, {}, signal);
}

const running: PodStatus = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const succeeded: PodStatus = { phase: 'Succeeded' };

async function setStage(stage: Stage): Promise<void> {
  const outOfService = { key: 'node.kubernetes.io/out-of-service', value: 'shutdown', effect: 'NoExecute' };
  await createNode(stage, 'healthy', {}, 'True');
  await createNode(stage, 'silent', {}, 'Unknown');
  await createNode(stage, 'out', { spec: { taints: [outOfService] } }, 'Unknown');
  await createNode(stage, 'doomed', {}, 'True');
  // A kept pod counts as finished once it has failed. It is first by age and name, so it takes no place of the others.
  await createPod(stage, 'a-kept-orphan', { nodeName: 'doomed', status: running, kept: true });
  await createPod(stage, 'orphan', { nodeName: 'doomed', status: running });
  await createPod(stage, 'a-kept-unscheduled', { deleted: true, kept: true });
  await createPod(stage, 'out-of-service', { nodeName: 'out', status: running, deleted: true });
  await createPod(stage, 'a-kept-out-of-service', { nodeName: 'out', status: running, deleted: true, kept: true });
  await createPod(stage, 'still-wanted-there', { nodeName: 'out', status: running });
  await createPod(stage, 'silent-terminating', { nodeName: 'silent', status: running, deleted: true });
  await createPod(stage, 'healthy-terminating', { nodeName: 'healthy', status: running, deleted: true });
  await createPod(stage, 'running', { nodeName: 'healthy', status: running });
  await createPod(stage, 'waiting', {});
  // Five of them are finished, the last one by an eviction: that one is deleted first, then the oldest. Pods of the
  // same second are ordered by name.
  for (const name of ['finished-1', 'finished-2', 'finished-3', 'finished-4']) {
    await createPod(stage, name, { nodeName: 'healthy', status: succeeded });
  }
  await createPod(stage, 'evicted', { nodeName: 'healthy', status: { phase: 'Failed', reason: 'Evicted' } });
  await stage.client.delete(Nodes, objectKey(undefined, 'doomed'), {}, stage.signal);
}

const gone = ['orphan', 'out-of-service', 'evicted', 'finished-1'];

async function runStage(manager: ManagerName, cluster: Cluster, signal: AbortSignal): Promise<State> {
  const connection = await loadKubeconfig({ path: cluster.kubeconfig() }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'podgc-suite' });
  const stage = { client: clients.clientFor('test'), namespace: await createNamespace(cluster, manager), signal };
  await setStage(stage);
  const stop = await start(manager, cluster);
  try {
    const { client, namespace } = stage;
    const untilGone = gone.map((name) =>
      watchUntil(client, Pods, { namespace, fieldSelector: `metadata.name=${name}`, count: 0 }, () => true, signal),
    );
    await Promise.all([
      ...untilGone,
      ...['a-kept-orphan', 'a-kept-unscheduled', 'a-kept-out-of-service'].map((name) =>
        watchUntil(client, Pods, { namespace, fieldSelector: `metadata.name=${name}` }, isFailedAndDeleted, signal),
      ),
    ]);
    return await dumpState(client, { namespace, kinds: [Pods] }, signal);
  } finally {
    await stop();
    clients.close();
  }
}

const isFailedAndDeleted = ({ metadata, status }: Pod): boolean =>
  status?.phase === 'Failed' && metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

async function start(manager: ManagerName, cluster: Cluster): Promise<() => Promise<unknown>> {
  if (manager === 'ours') {
    const started = await startManager(cluster, flags);
    return () => started.stop();
  }
  const { process } = await startGoControllerManager(cluster, flags);
  return () => process.stop();
}

test('pods that no kubelet will stop are failed and deleted, as by the Go binary, and no others', async ({
  signal,
}) => {
  const [ours, go] = await Promise.all([runStage('ours', ourCluster(), signal), runStage('go', goCluster(), signal)]);
  expect(compareStates(ours, go, { names: ['ours', 'go'] })).toEqual([]);
  const names = ours.objects.map(({ object }) => object.metadata.name);
  expect(names.toSorted()).toEqual([
    'a-kept-orphan',
    'a-kept-out-of-service',
    'a-kept-unscheduled',
    'finished-2',
    'finished-3',
    'finished-4',
    'healthy-terminating',
    'running',
    'silent-terminating',
    'still-wanted-there',
    'waiting',
  ]);
  const orphan = ours.objects.find(({ object }) => object.metadata.name === 'a-kept-orphan')?.object;
  expect(findCondition((orphan as Pod | undefined)?.status?.conditions, 'DisruptionTarget')).toMatchObject({
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
  });
});
