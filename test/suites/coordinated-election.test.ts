import { afterAll, beforeAll, expect, test } from 'vitest';

import { LeaseCandidates, Leases, objectKey, type LeaseCandidate, type LeaseSpec } from '../../pkg/api/index.ts';
import { ClientBuilder, isNotFound, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { LeaderElector, LeaderLostError, runLeaseCandidate } from '../../pkg/leaderelection/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startGoControllerManager, type ServerProcess } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { followLease } from '../support/follow-lease.ts';
import { silentLogger } from '../support/loggers.ts';
import { startManager } from '../support/manager.ts';
import { useCluster } from './use-cluster.ts';

const featureGates = { CoordinatedLeaderElection: true };
const cluster = useCluster({ featureGates, runtimeConfig: { 'coordination.k8s.io/v1beta1': true } });
const lock = { namespace: 'kube-system', name: 'kube-controller-manager' };
const durations = { leaseDurationMs: 6000, renewDeadlineMs: 3000, retryPeriodMs: 500 };
const flags = [
  '--feature-gates=CoordinatedLeaderElection=true',
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
  '--controllers=ttl-after-finished-controller',
];
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'coordinated-election' });
  client = clients.clientFor('coordinated-election');
});
afterAll(() => clients.close());

async function readLease(signal: AbortSignal): Promise<LeaseSpec> {
  try {
    return (await client.get(Leases, objectKey(lock.namespace, lock.name), signal)).spec ?? {};
  } catch (error) {
    if (isNotFound(error)) return {};
    throw error;
  }
}

/** Waits until this candidate holds the lease and has renewed it: the API server gives it away for five seconds. */
async function untilLed(identity: string, signal: AbortSignal): Promise<void> {
  await eventually(async () => {
    const { holderIdentity, leaseDurationSeconds } = await readLease(signal);
    return holderIdentity === identity && leaseDurationSeconds === 6;
  }, signal);
}

/** The candidate that is none of these, once there is one. */
function nextCandidate(known: readonly string[], signal: AbortSignal): Promise<LeaseCandidate> {
  return eventually(async () => {
    const { items } = await client.listAll(LeaseCandidates, { namespace: lock.namespace }, signal);
    const isNew = ({ metadata, spec }: LeaseCandidate): boolean =>
      spec.leaseName === lock.name && !known.includes(metadata.name);
    return items.find(isNew) ?? false;
  }, signal);
}

/** Everything about a candidate but who it is and when. */
function stateOf({ metadata, spec }: LeaseCandidate): object {
  const { pingTime: _asked, renewTime, ...rest } = spec;
  return { ...rest, renewTime: renewTime?.replaceAll(/\d/g, '0'), labels: metadata.labels };
}

test('the API server chooses among our manager and Go managers of other versions', async ({ signal }) => {
  const lease = await followLease(client, lock);
  const ours = await startManager(cluster(), flags, { until: 'leading' });
  const first = await nextCandidate([], signal);
  await untilLed(first.metadata.name, signal);

  // Of two candidates of the same version, the first one stays.
  const standby = await startGoControllerManager(cluster(), flags);
  const second = await nextCandidate([first.metadata.name], signal);
  expect(stateOf(first)).toEqual(stateOf(second));

  // An older one is preferred: our manager ends its term.
  const older = await startGoControllerManager(cluster(), [...flags, '--emulated-version=1.35']);
  const third = await nextCandidate([first.metadata.name, second.metadata.name], signal);
  expect(third.spec.emulationVersion).toBe('1.35.0');
  expect(await ours.exited).toBe(1);
  expect(ours.logs()).toContain(`${third.metadata.name} is to hold it next`);
  await untilLed(third.metadata.name, signal);

  // One that is older still, as a library, is preferred to that.
  await leadAs('library_1', [older.process], signal);

  // When it has gone, the lease goes to the candidate that is left.
  await untilLed(second.metadata.name, signal);
  await standby.process.stop();
  await lease.end();
  expectOneHolderAtATime(lease.specs);
});

/** Becomes the leader as a candidate of an old version, and releases the lease. Others exit when they lose it. */
async function leadAs(identity: string, others: readonly ServerProcess[], signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const candidate = { identity, lock, binaryVersion: '1.34.0', emulationVersion: '1.34.0' };
  const common = { client, clock: systemClock, logger: silentLogger };
  const announced = runLeaseCandidate({ ...common, candidate }, stop.signal);
  const elector = new LeaderElector({
    ...common,
    ...durations,
    lock,
    identity,
    releaseOnCancel: true,
    coordinated: true,
  });
  const led = Promise.withResolvers<void>();
  const leading = elector.run(async (until) => {
    led.resolve();
    await new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }));
  }, stop.signal);
  await led.promise;
  await untilLed(identity, signal);
  for (const { exited } of others) await exited;
  stop.abort();
  await Promise.all([announced, leading]);
}

/** The holder changes only when the lease was released, or its last renewal is older than its duration. */
function expectOneHolderAtATime(specs: readonly LeaseSpec[]): void {
  for (const [index, after] of specs.entries()) {
    const before = specs[index - 1];
    if (before === undefined || (before.holderIdentity ?? '') === '') continue;
    if (before.holderIdentity === after.holderIdentity || (after.holderIdentity ?? '') === '') continue;
    const expiredMs = Date.parse(before.renewTime ?? '') + (before.leaseDurationSeconds ?? 0) * 1000;
    expect(Date.parse(after.renewTime ?? '')).toBeGreaterThanOrEqual(expiredMs);
  }
}

test('a leader whose lease is deleted stops, and does not create it again', async ({ signal }) => {
  const stop = new AbortController();
  const identity = 'library_2';
  const candidate = {
    identity,
    lock: { ...lock, name: 'deleted' },
    binaryVersion: '1.36.4',
    emulationVersion: '1.36.0',
  };
  const common = { client, clock: systemClock, logger: silentLogger };
  const announced = runLeaseCandidate({ ...common, candidate }, stop.signal);
  const elector = new LeaderElector({
    ...common,
    ...durations,
    lock: candidate.lock,
    identity,
    releaseOnCancel: true,
    coordinated: true,
  });
  const key = objectKey(lock.namespace, 'deleted');
  const leading = elector.run(async (until) => {
    stop.abort(); // no candidate any more, so that the API server gives the lease to nobody
    await announced;
    await client.delete(LeaseCandidates, objectKey(lock.namespace, identity), {}, signal);
    await client.delete(Leases, key, {}, signal);
    await new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }));
  }, signal);
  await expect(leading).rejects.toBeInstanceOf(LeaderLostError);
  await expect(client.get(Leases, key, signal)).rejects.toSatisfy(isNotFound);
});
