import { describe, expect, test } from 'vitest';

import { Pods, ReplicaSets, type Pod, type ReplicaSet } from '../../pkg/api/index.ts';
import { PendingWrites, StatusPace } from '../../pkg/controller/index.ts';
import { createMetricsRegistry } from '../../pkg/metrics/index.ts';
import { frozen, pod, replicaSet, runningStatus } from '../../test/support/builders.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { syncReplicas, type Snapshot, type SyncDeps } from './apply-sync.ts';
import { createReplicaMetrics } from './metrics.ts';

const { signal } = new AbortController();
const stored = replicaSet({ name: 'web', spec: { replicas: 2 } });
const owner = frozen(stored);
const running = frozen(pod({ name: 'a', labels: { app: 'web' }, status: runningStatus() }));
const withPods = (count: number): Snapshot<ReplicaSet> => ({
  owner,
  activePods: Array.from({ length: count }, () => running),
  relatedPods: [],
  terminating: 0,
});

function setUp() {
  const client = new RecordingClient();
  client.seed(ReplicaSets, stored);
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const never = { get: () => undefined, hasSeen: () => false };
  const deps: SyncDeps<ReplicaSet> = {
    control: { client, recorder: { event: () => undefined }, ownerKind: ReplicaSets },
    clock,
    metrics: createReplicaMetrics(createMetricsRegistry()),
    pending: new PendingWrites<Pod>({ kind: Pods, store: never }, clock),
    pendingStatus: new PendingWrites<ReplicaSet>({ kind: ReplicaSets, store: never }, clock),
    statusPace: new StatusPace(clock),
    inTerminatingNamespace: new Map(),
    honourDeletionCost: true,
  };
  const sync = (snapshot: Snapshot<ReplicaSet>) => syncReplicas(snapshot, deps, signal);
  const statuses = (): number => client.writes.filter(({ verb }) => verb === 'update').length;
  return { client, sync, statuses, advance: (ms: number) => (nowMs += ms) };
}

describe('syncReplicas', () => {
  test('after a change of pods, one write has the new generation and the new counts', async () => {
    const { client, sync, statuses, advance } = setUp();
    expect(await sync(withPods(0))).toEqual({ requeueAfterMs: 50 });
    expect(client.stored(Pods)).toHaveLength(2);
    expect(statuses()).toBe(0);
    advance(20);
    expect(await sync(withPods(2))).toEqual({ requeueAfterMs: 30 }); // pods that start together become ready together
    advance(30);
    await sync(withPods(2));
    expect(statuses()).toBe(1);
    expect(client.stored(ReplicaSets)).toMatchObject([
      { status: { replicas: 2, readyReplicas: 2, observedGeneration: 1 } },
    ]);
  });

  test('pods that are deleted again and again do not keep the status from being written', async () => {
    const { sync, statuses, advance } = setUp();
    await sync(withPods(1));
    advance(50);
    await sync(withPods(1));
    expect(statuses()).toBe(1);
  });

  test('a failure to create pods is in the status at once', async () => {
    const { client, sync, statuses } = setUp();
    client.before('create', () => {
      throw apiError(403, 'Forbidden', 'exceeded quota');
    });
    await expect(sync(withPods(0))).rejects.toThrow('exceeded quota');
    expect(statuses()).toBe(1);
  });

  test('in a terminating namespace the status is written although no pod can be created', async () => {
    const { client, sync, statuses } = setUp();
    client.before('create', () => {
      throw apiError(403, 'Forbidden', 'terminating', { causes: ['NamespaceTerminating'] });
    });
    await sync(withPods(1));
    expect(statuses()).toBe(1);
  });
});
