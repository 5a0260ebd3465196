import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  isConditionTrue,
  keyOf,
  Leases,
  type Node,
  Nodes,
  objectKey,
  type Pod,
  type PodSpec,
  Pods,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { type Client, ClientBuilder, isNotFound, loadKubeconfig } from '../../pkg/client/index.ts';
import { type HollowNodes, startHollowNodes } from '../../pkg/hollow/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { eventually, watchUntil } from '../support/eventually.ts';
import { RecordingLogger } from '../support/loggers.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
const stop = new AbortController();
const logger = new RecordingLogger();
let clients: ClientBuilder;
let client: Client;
let hollow: HollowNodes;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'hollow-suite' });
  client = clients.clientFor('test');
  hollow = await startHollowNodes(
    { client: clients.clientFor('hollow-nodes'), clock: systemClock, logger, nodes: 20, leaseRenewMs: 500 },
    stop.signal,
  );
});

afterAll(async () => {
  stop.abort();
  await hollow.stopped;
  clients.close();
});

interface PodOptions {
  readonly annotations?: Record<string, string>;
  readonly finalizers?: string[];
  readonly spec?: Partial<PodSpec>;
}

function podObject(namespace: string, name: string, { annotations, finalizers, spec }: PodOptions = {}): Unsaved<Pod> {
  return {
    metadata: { namespace, name, annotations, finalizers },
    spec: { containers: [{ name: 'app', image: 'example' }], ...spec },
  };
}

const isReady = ({ status }: Pod | Node): boolean => isConditionTrue(status?.conditions, 'Ready');

/** Waits until the pod of a namespace matches. */
async function podWhen(namespace: string, isWanted: (pod: Pod) => boolean, signal: AbortSignal): Promise<Pod> {
  const [pod] = await watchUntil(client, Pods, { namespace }, isWanted, signal);
  if (pod === undefined) throw new Error('the pod is missing');
  return pod;
}

async function gone(namespace: string, signal: AbortSignal): Promise<void> {
  await watchUntil(client, Pods, { namespace, count: 0 }, () => true, signal);
}

async function renewTime(nodeName: string, signal: AbortSignal): Promise<string | null | undefined> {
  return (await client.get(Leases, objectKey('kube-node-lease', nodeName), signal)).spec?.renewTime;
}

describe('hollow nodes', () => {
  test('are registered and ready', async ({ signal }) => {
    const { items } = await client.listAll(Nodes, {}, signal);
    expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual(hollow.nodeNames.toSorted());
    expect(items.every(isReady)).toBe(true);
  });

  test('keep renewing their leases', async ({ signal }) => {
    const first = await eventually(() => renewTime('hollow-node-3', signal), signal);
    await eventually(async () => (await renewTime('hollow-node-3', signal)) !== first, signal);
    const lease = await client.get(Leases, objectKey('kube-node-lease', 'hollow-node-3'), signal);
    expect(lease).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Node', name: 'hollow-node-3' }] },
      spec: { holderIdentity: 'hollow-node-3', leaseDurationSeconds: 40 },
    });
  });

  test('run a pod: bound, with addresses, ready', async ({ signal }) => {
    const namespace = await createNamespace(cluster());
    await client.create(Pods, podObject(namespace, 'a'), signal);
    const pod = await podWhen(namespace, isReady, signal);
    expect(pod.status).toMatchObject({
      phase: 'Running',
      hostIP: expect.stringMatching(/^172\.16\./),
      podIP: expect.stringMatching(/^10\.128\./),
      containerStatuses: [{ name: 'app', ready: true, restartCount: 0, state: { running: {} } }],
    });
    expect(hollow.nodeNames).toContain(pod.spec.nodeName);
  });

  test('make a pod unready and ready again by its annotation', async ({ signal }) => {
    const namespace = await createNamespace(cluster());
    const created = await client.create(Pods, podObject(namespace, 'a'), signal);
    await podWhen(namespace, isReady, signal);
    const annotate = (value: string | null): Promise<Pod> => {
      const body = { metadata: { annotations: { 'hollow-node/never-ready': value } } };
      return client.patch(Pods, keyOf(created), { type: 'merge', body }, signal);
    };
    await annotate('true');
    await podWhen(namespace, (pod) => !isReady(pod), signal);
    await annotate(null);
    const pod = await podWhen(namespace, isReady, signal);
    // The conditions do not show the time between.
    expect(pod.status?.conditions?.find(({ type }) => type === 'Ready')).not.toHaveProperty('reason');
  });

  const ends = [
    { name: 'success', exitCode: '0', phase: 'Succeeded' },
    { name: 'a failure', exitCode: '3', phase: 'Failed' },
  ];
  for (const { name, exitCode, phase } of ends) {
    test(`finish a pod with ${name}`, async ({ signal }) => {
      const namespace = await createNamespace(cluster());
      const annotations = { 'hollow-node/finish-after': '200ms', 'hollow-node/exit-code': exitCode };
      await client.create(Pods, podObject(namespace, 'a', { annotations, spec: { restartPolicy: 'Never' } }), signal);
      const pod = await podWhen(namespace, ({ status }) => status?.phase === phase, signal);
      expect(pod.status?.containerStatuses).toMatchObject([{ state: { terminated: { exitCode: Number(exitCode) } } }]);
    });
  }

  test('restart containers that fail until they succeed', async ({ signal }) => {
    const namespace = await createNamespace(cluster());
    const annotations = { 'hollow-node/finish-after': '100ms', 'hollow-node/exit-code': '1,0' };
    await client.create(Pods, podObject(namespace, 'a', { annotations, spec: { restartPolicy: 'OnFailure' } }), signal);
    const pod = await podWhen(namespace, ({ status }) => status?.phase === 'Succeeded', signal);
    expect(pod.status?.containerStatuses).toMatchObject([
      { restartCount: 1, state: { terminated: { exitCode: 0 } }, lastState: { terminated: { exitCode: 1 } } },
    ]);
  });

  test('keep a deleted pod running until its grace period ends', async ({ signal }) => {
    const namespace = await createNamespace(cluster());
    const pod = await client.create(Pods, podObject(namespace, 'a'), signal);
    await podWhen(namespace, isReady, signal);
    await client.delete(Pods, keyOf(pod), { gracePeriodSeconds: 2 }, signal);
    const deleted = await client.get(Pods, keyOf(pod), signal);
    expect(deleted.metadata.deletionGracePeriodSeconds).toBe(2);
    expect(isReady(deleted)).toBe(true);
    await gone(namespace, signal);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(deleted.metadata.deletionTimestamp ?? ''));
  });

  test('leave a deleted pod with finalizers in its end state', async ({ signal }) => {
    const namespace = await createNamespace(cluster());
    const annotations = { 'hollow-node/stop-after': '0s', 'hollow-node/stop-exit-code': '0' };
    const options = { annotations, finalizers: ['example.com/keep'] };
    const created = await client.create(Pods, podObject(namespace, 'a', options), signal);
    await podWhen(namespace, isReady, signal);
    await client.delete(Pods, keyOf(created), {}, signal);
    const pod = await podWhen(namespace, ({ metadata }) => metadata.deletionGracePeriodSeconds === 0, signal);
    expect(pod.status?.phase).toBe('Succeeded');
    expect(isReady(pod)).toBe(false);
    const body = { metadata: { finalizers: null } };
    await client.patch(Pods, keyOf(created), { type: 'merge', body }, signal);
    await gone(namespace, signal);
  });

  test('stop renewing their leases, and resume', async ({ signal }) => {
    const namespace = await createNamespace(cluster());
    const nodeName = 'hollow-node-7';
    hollow.stopHeartbeats(nodeName);
    const silentSince = await renewTime(nodeName, signal);
    await client.create(Pods, podObject(namespace, 'a', { spec: { nodeName } }), signal);
    // The others continue: two renewals of another node are a whole period.
    for (let renewals = 0; renewals < 2; renewals++) {
      const before = await renewTime('hollow-node-8', signal);
      await eventually(async () => (await renewTime('hollow-node-8', signal)) !== before, signal);
    }
    // One renewal may have been in flight.
    const silent = await renewTime(nodeName, signal);
    expect(Date.parse(silent ?? '') - Date.parse(silentSince ?? '')).toBeLessThan(500);
    await podWhen(namespace, ({ status }) => status?.phase === 'Pending', signal);
    hollow.resumeHeartbeats(nodeName);
    await podWhen(namespace, isReady, signal);
    await eventually(async () => (await renewTime(nodeName, signal)) !== silent, signal);
  });

  test('report the given conditions', async ({ signal }) => {
    const pressure = { type: 'DiskPressure', status: 'True', reason: 'KubeletHasDiskPressure', message: 'full' };
    hollow.setCondition('hollow-node-9', pressure);
    const options = { fieldSelector: 'metadata.name=hollow-node-9' };
    const [node] = await watchUntil(
      client,
      Nodes,
      options,
      ({ status }) => isConditionTrue(status?.conditions, 'DiskPressure'),
      signal,
    );
    expect(node?.status?.conditions).toContainEqual(expect.objectContaining(pressure));
  });

  test('forget a Node that was deleted', async ({ signal }) => {
    const key = objectKey(undefined, 'hollow-node-19');
    await client.delete(Nodes, key, {}, signal);
    await expect(client.get(Nodes, key, signal)).rejects.toSatisfy(isNotFound);
  });

  test('keep up with two thousand pods', { timeout: 600_000 }, async ({ signal }) => {
    const namespace = await createNamespace(cluster());
    const names = Array.from({ length: 2000 }, (_, index) => `pod-${index}`).values();
    const create = async (): Promise<void> => {
      for (const name of names) await client.create(Pods, podObject(namespace, name), signal);
    };
    const creating = Promise.all(Array.from({ length: 32 }, create));
    const pods = await watchUntil(client, Pods, { namespace, count: 2000 }, isReady, signal);
    await creating;
    expect(new Set(pods.map(({ status }) => status?.podIP)).size).toBe(2000);
  });

  test('log no error meanwhile', () => {
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
