import { afterEach, describe, expect, test } from 'vitest';
import {
  isConditionTrue,
  Jobs,
  keyOf,
  Leases,
  Nodes,
  objectKey,
  PersistentVolumeClaims,
  type Pod,
  Pods,
} from '../api/index.ts';
import { build, creationTime, type Described, job, pod } from '../../test/support/builders.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { RecordingLogger } from '../../test/support/loggers.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { machineAnnotation } from './machine-power.ts';
import { startHollowNodes, type HollowNodes, type HollowNodesOptions } from './hollow-nodes.ts';

interface World {
  readonly client: RecordingClient;
  readonly clock: FakeClock;
  readonly logger: RecordingLogger;
  readonly hollow: HollowNodes;
  readonly stop: AbortController;
  add(described: Described<Pod>): void;
  podNamed(name: string): Pod | undefined;
  /** Writes to pods, as verb and subresource. */
  podWrites(): readonly string[];
}

let world: World | undefined;

/** Advances the time, and waits until all work is done before and after: caches work in turns. */
async function pass(clock: FakeClock, ms = 0): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await clock.advance(0);
  await clock.advance(ms);
  for (let turn = 0; turn < 20; turn++) await clock.advance(0);
}

async function start(options: Partial<HollowNodesOptions> = {}): Promise<World> {
  const clock = new FakeClock(creationTime);
  const client = new RecordingClient({ now: () => clock.now() });
  const logger = new RecordingLogger();
  const stop = new AbortController();
  const hollow = await startHollowNodes({ client, clock, logger, nodes: 2, ...options }, stop.signal);
  await pass(clock);
  world = {
    client,
    clock,
    logger,
    hollow,
    stop,
    add: (described) => void client.seed(Pods, pod(described)),
    podNamed: (name) => client.stored(Pods).find(({ metadata }) => metadata.name === name),
    podWrites: () =>
      client.writes
        .filter(({ resource }) => resource === 'pods')
        .map(({ verb, subresource = '' }) => verb + ' ' + subresource),
  };
  return world;
}

afterEach(async () => {
  if (world === undefined) return;
  const { clock, hollow, logger, stop } = world;
  world = undefined;
  stop.abort();
  await hollow.stopped;
  if (clock.pendingTimers > 0) throw new Error(`${clock.pendingTimers} timers are left behind`);
  const errors = logger.lines.filter(({ level }) => level === 'error');
  if (errors.length > 0) throw new Error(`errors were logged: ${JSON.stringify(errors)}`);
});

describe('startHollowNodes', () => {
  test('registers ready nodes in several zones, each with a lease of its own', async () => {
    const { client } = await start();
    expect(client.stored(Nodes).map(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone'])).toEqual([
      'zone-a',
      'zone-b',
    ]);
    expect(client.stored(Nodes).every(({ status }) => isConditionTrue(status?.conditions, 'Ready'))).toBe(true);
    expect(client.stored(Leases).map(keyOf)).toEqual([
      'kube-node-lease/hollow-node-0',
      'kube-node-lease/hollow-node-1',
    ]);
  });

  test('renews leases spread over the period', async () => {
    const { client, clock } = await start({ leaseRenewMs: 1000 });
    const renewTimes = (): (string | undefined)[] =>
      client.stored(Leases).map(({ spec }) => spec?.renewTime?.slice(17, 23));
    await pass(clock, 500);
    expect(renewTimes()).toEqual(['00.500', '00.000']);
    await pass(clock, 500);
    expect(renewTimes()).toEqual(['00.500', '01.000']);
    await pass(clock, 1000);
    expect(renewTimes()).toEqual(['01.500', '02.000']);
  });

  test('makes a new pod ready with two writes', async () => {
    const { add, clock, podNamed, podWrites } = await start();
    add({ name: 'a' });
    await pass(clock);
    expect(podNamed('a')).toMatchObject({
      spec: { nodeName: 'hollow-node-0' },
      status: { phase: 'Running', hostIP: '172.16.0.1', podIP: '10.128.0.1' },
    });
    expect(isConditionTrue(podNamed('a')?.status?.conditions, 'Ready')).toBe(true);
    expect(podWrites()).toEqual(['create binding', 'patch status']);
  });

  test('spreads pods over nodes, and gives each its own address', async () => {
    const { add, clock, client } = await start();
    for (const name of ['a', 'b', 'c', 'd']) add({ name });
    await pass(clock);
    const places = client.stored(Pods).map(({ spec, status }) => [spec.nodeName, status?.podIP]);
    const onFirst = places.filter(([nodeName]) => nodeName === 'hollow-node-0');
    const onSecond = places.filter(([nodeName]) => nodeName === 'hollow-node-1');
    expect([onFirst.length, onSecond.length]).toEqual([2, 2]);
    expect(new Set(places.map(([, ip]) => ip)).size).toBe(4);
  });

  test('does not bind pods with bindsPods off, but runs bound pods', async () => {
    const { add, clock, podNamed, podWrites } = await start({ bindsPods: false });
    add({ name: 'free' });
    add({ name: 'bound', spec: { nodeName: 'hollow-node-1' } });
    await pass(clock);
    expect([podNamed('free')?.status?.phase, podNamed('bound')?.status?.phase]).toEqual(['Pending', 'Running']);
    expect(podWrites()).toEqual(['patch status']);
  });

  test('ignores pods of other nodes', async () => {
    const { add, clock, podWrites } = await start();
    add({ name: 'a', spec: { nodeName: 'real' } });
    await pass(clock);
    expect(podWrites()).toEqual([]);
  });

  test('finishes a pod after finish-after', async () => {
    const { add, clock, podNamed } = await start();
    const annotations = { 'hollow-node/finish-after': '2s', 'hollow-node/exit-code': '3' };
    add({ name: 'a', spec: { restartPolicy: 'Never' }, annotations });
    await pass(clock, 1999);
    expect(podNamed('a')?.status?.phase).toBe('Running');
    await pass(clock, 1);
    expect(podNamed('a')?.status).toMatchObject({
      phase: 'Failed',
      containerStatuses: [{ state: { terminated: { exitCode: 3 } } }],
    });
  });

  test('stops a deleted pod after its grace period, then removes it', async () => {
    const { add, client, clock, podNamed, podWrites } = await start();
    const deletion = { deletionTimestamp: '2026-01-01T00:00:05Z', deletionGracePeriodSeconds: 5 };
    add({ name: 'a', spec: { nodeName: 'hollow-node-0' } });
    await pass(clock);
    await client.patch(
      Pods,
      keyOf(pod({ name: 'a' })),
      { type: 'merge', body: { metadata: deletion } },
      AbortSignal.any([]),
    );
    await pass(clock, 4999);
    expect(podNamed('a')?.status?.phase).toBe('Running');
    await pass(clock, 1);
    expect(podNamed('a')).toBeUndefined();
    expect(podWrites().slice(-2)).toEqual(['patch status', 'delete ']);
    expect(client.writes.at(-1)?.body).toEqual({ gracePeriodSeconds: 0, preconditions: { uid: 'uid-pod-default-a' } });
  });

  test('does not reuse addresses of earlier runs', async () => {
    const clock = new FakeClock(creationTime);
    const client = new RecordingClient({ now: () => clock.now() });
    client.seed(Pods, pod({ name: 'old', spec: { nodeName: 'hollow-node-0' }, status: { podIP: '10.128.0.1' } }));
    client.seed(Pods, pod({ name: 'new' }));
    const stop = new AbortController();
    const logger = new RecordingLogger();
    const hollow = await startHollowNodes({ client, clock, logger, nodes: 1 }, stop.signal);
    await pass(clock);
    const ips = client.stored(Pods).map(({ status }) => status?.podIP);
    expect(new Set(ips)).toEqual(new Set(['10.128.0.1', '10.128.0.2']));
    stop.abort();
    await hollow.stopped;
  });

  test('a stopped node neither renews its lease nor runs its pods, and continues later', async () => {
    const { add, client, clock, hollow, podNamed } = await start({ leaseRenewMs: 1000 });
    hollow.stopHeartbeats('hollow-node-0');
    add({ name: 'a', spec: { nodeName: 'hollow-node-0' } });
    await pass(clock, 10_000);
    const renewed = (): (string | undefined)[] =>
      client.stored(Leases).map(({ spec }) => spec?.renewTime?.slice(17, 19));
    expect(renewed()).toEqual(['00', '10']);
    expect(podNamed('a')?.status?.phase).toBe('Pending');
    hollow.resumeHeartbeats('hollow-node-0');
    await pass(clock);
    expect(renewed()).toEqual(['10', '10']);
    expect(podNamed('a')?.status?.phase).toBe('Running');
  });

  test('pods wait until a node accepts them', async () => {
    const { add, clock, hollow, podNamed } = await start({ nodes: 1 });
    hollow.setCondition('hollow-node-0', { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: '' });
    await pass(clock);
    add({ name: 'a' });
    await pass(clock);
    expect(podNamed('a')?.spec.nodeName).toBeUndefined();
    hollow.setCondition('hollow-node-0', { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' });
    await pass(clock);
    expect(podNamed('a')?.spec.nodeName).toBe('hollow-node-0');
  });

  test('reports Ready again after a controller has changed the condition', async () => {
    const { client, clock } = await start({ nodes: 1 });
    const body = { status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] } };
    const [node] = client.stored(Nodes);
    if (node === undefined) throw new Error('the node is missing');
    await client.patch(Nodes, keyOf(node), { type: 'strategic', body, subresource: 'status' }, AbortSignal.any([]));
    await pass(clock);
    expect(isConditionTrue(client.stored(Nodes)[0]?.status?.conditions, 'Ready')).toBe(true);
  });

  test('a pod of a Job ends by itself', async () => {
    const { add, clock, podNamed } = await start();
    add({ name: 'batch', spec: { restartPolicy: 'Never' }, owner: { kind: Jobs, object: job() } });
    await pass(clock, 900);
    expect(podNamed('batch')?.status?.phase).toBe('Running');
    await pass(clock, 100);
    expect(podNamed('batch')?.status?.phase).toBe('Succeeded');
  });

  test('a pod waits for its claims', async () => {
    const { add, client, clock, podNamed } = await start();
    const claim = { persistentVolumeClaim: { claimName: 'data' } };
    add({ name: 'db', spec: { volumes: [{ name: 'data', ...claim }] } });
    await pass(clock, 1000);
    expect(podNamed('db')?.spec.nodeName).toBeUndefined();
    client.seed(PersistentVolumeClaims, build(PersistentVolumeClaims, { name: 'data' }, { spec: {} }));
    await pass(clock);
    expect(podNamed('db')?.status?.phase).toBe('Running');
  });

  test('pods with anti-affinity get a node each, and the next waits until one is deleted', async () => {
    const { add, client, clock, podNamed } = await start({ podStopDelayMs: 0 });
    const labelSelector = { matchLabels: { app: 'web' } };
    const terms = [{ topologyKey: 'kubernetes.io/hostname', labelSelector }];
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    for (const name of ['a', 'b', 'c']) add({ name, labels: { app: 'web' }, spec: { affinity } });
    await pass(clock, 1000);
    const nodes = () => ['a', 'b', 'c'].flatMap((name) => podNamed(name)?.spec.nodeName ?? []);
    expect(new Set(nodes()).size).toBe(2);
    expect(nodes()).toHaveLength(2);
    const [placed] = ['a', 'b', 'c'].filter((name) => podNamed(name)?.spec.nodeName !== undefined);
    await client.delete(Pods, objectKey('default', placed ?? ''), {}, new AbortController().signal);
    await pass(clock, 1000);
    expect(new Set(nodes()).size).toBe(2);
    expect(nodes()).toHaveLength(2);
  });
});

describe('the machine of a node', () => {
  const { signal } = new AbortController();
  const key = objectKey(undefined, 'hollow-node-0');
  const switchTo = (client: RecordingClient, value: string | null) =>
    client.patch(
      Nodes,
      key,
      { type: 'merge', body: { metadata: { annotations: { [machineAnnotation]: value } } } },
      signal,
    );
  const readyOf = (client: RecordingClient) =>
    client.stored(Nodes).map(({ status }) => isConditionTrue(status?.conditions, 'Ready'));

  test('reports that it shuts down, is silent while it is off, and continues', async () => {
    const { client, clock } = await start({ leaseRenewMs: 1000 });
    await switchTo(client, 'off');
    await pass(clock);
    expect(readyOf(client)).toEqual([false, true]);
    const renewals = (): number => client.writes.filter(({ resource }) => resource.startsWith('leases')).length;
    await pass(clock, 1000);
    const before = renewals();
    await pass(clock, 1000);
    expect(renewals() - before).toBe(1); // of the other node
    await switchTo(client, null);
    await pass(clock);
    expect(readyOf(client)).toEqual([true, true]);
    await pass(clock, 1000);
    expect(renewals() - before).toBeGreaterThan(2);
  });

  test('starts no pods while it is off', async () => {
    const { client, clock, add, podNamed } = await start({ nodes: 1 });
    await switchTo(client, 'off');
    await pass(clock);
    add({ name: 'a', spec: { nodeName: 'hollow-node-0' } });
    await pass(clock);
    expect(podNamed('a')?.status?.phase).not.toBe('Running');
    await switchTo(client, null);
    await pass(clock);
    expect(podNamed('a')?.status?.phase).toBe('Running');
  });

  test('is tainted until a cloud has described it, if there is one', async () => {
    const { client } = await start({ externalCloud: true });
    const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
    expect(client.stored(Nodes).map(({ spec }) => spec.taints)).toEqual([[taint], [taint]]);
  });
});
