import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { keyOf, Leases, Namespaces, Pods, ReplicaSets, ServiceAccounts, type Lease } from '../../pkg/api/index.ts';
import { ClientBuilder, isConflict, isNotFound, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { createAuditLog } from '../support/audit-log.ts';
import {
  candidateGroup,
  countLeaseReads,
  countWork,
  findUnledWork,
  leaderOf,
  startGo,
  startOurs,
  type Candidate,
  type StartCandidate,
} from '../support/candidates.ts';
import { eventually, watchUntil } from '../support/eventually.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const verbs = ['get', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const auditLog = createAuditLog({ group: candidateGroup, verbs });
const getCluster = useCluster({ extraApiServerFlags: auditLog.flags });
const leaseKey = keyOf({ metadata: { namespace: 'kube-system', name: 'kube-controller-manager' } });
/** All candidates of a test, running or not. */
const candidates: Candidate[] = [];
let clients: ClientBuilder;
let client: Client;
let namespace: string;
const stop = new AbortController();
let playing: Promise<void>;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: getCluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  client = clients.clientFor('test');
  namespace = await createNamespace(getCluster(), 'chaos');
  await createReplicaSet('busy', 8);
  playing = keepLeaderBusy();
});

afterEach(async () => {
  for (const candidate of candidates) await candidate.kill();
  candidates.length = 0;
  // The next pair does not wait for the lease of the last.
  await client.delete(Leases, leaseKey, {}, new AbortController().signal).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
});

afterAll(async () => {
  stop.abort();
  await playing;
  clients.close();
  auditLog.remove();
});

async function createReplicaSet(name: string, replicas: number): Promise<void> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'none' }] } };
  const spec = { replicas, selector: { matchLabels: labels }, template };
  await client.create(ReplicaSets, { metadata: { namespace, name }, spec }, new AbortController().signal);
}

/** Deletes the pods of a ReplicaSet whenever all exist, so that the leader always has something to write. */
async function keepLeaderBusy(): Promise<void> {
  const options = { namespace, labelSelector: 'app=busy' };
  while (!stop.signal.aborted) {
    try {
      await watchUntil(client, Pods, { ...options, count: 8 }, () => true, stop.signal);
      await client.deleteCollection(Pods, options, stop.signal);
    } catch {
      // The server is paused, or the test is over, which the loop checks.
    }
  }
}

async function start(startCandidate: StartCandidate, clockShiftMs: number, more = ''): Promise<Candidate> {
  const controllers = `replicaset-controller${more}`;
  const candidate = await startCandidate(getCluster(), { controllers, clockShiftMs });
  candidates.push(candidate);
  return candidate;
}

/** Waits until the candidate holds the lease and has made new writes. */
async function working({ user }: Candidate, signal: AbortSignal): Promise<void> {
  const before = countWork(auditLog.read(), user);
  await eventually(async () => {
    const requests = auditLog.read();
    return leaderOf(requests) === user && countWork(requests, user) > before;
  }, signal);
}

/** Waits until the candidate has read the lease once more. */
async function observesLease({ user }: Candidate, signal: AbortSignal): Promise<void> {
  const before = countLeaseReads(auditLog.read(), user);
  await eventually(async () => countLeaseReads(auditLog.read(), user) > before, signal);
}

async function changeLease(change: (lease: Lease) => Lease, signal: AbortSignal): Promise<void> {
  await eventually(async () => {
    try {
      return await client.update(Leases, change(await client.get(Leases, leaseKey, signal)), signal);
    } catch (error) {
      if (isConflict(error)) return false; // the leader was faster
      throw error;
    }
  }, signal);
}

/** Writes of candidates that did not hold the lease. */
const unledWork = (): string[] => findUnledWork(auditLog.read(), candidates);

const minutes = 60_000;

interface Pair {
  readonly name: string;
  readonly leader: StartCandidate;
  readonly standby: StartCandidate;
}

const oursAndOurs: Pair = { name: 'ours, and ours on standby', leader: startOurs, standby: startOurs };
const oursAndGo: Pair = { name: 'ours, and Go on standby', leader: startOurs, standby: startGo };
const goAndOurs: Pair = { name: 'Go, and ours on standby', leader: startGo, standby: startOurs };

/** The clock of one candidate is ahead and that of the other behind: no candidate may rely on it. */
async function startPair(pair: Pair, shiftMs: number, signal: AbortSignal, more = ''): Promise<[Candidate, Candidate]> {
  const leader = await start(pair.leader, shiftMs, more);
  await working(leader, signal);
  return [leader, await start(pair.standby, -shiftMs)];
}

const stale = Array.from({ length: 20 }, (_, index) => `left-to-do-${String(index)}`);

describe('never two writers', () => {
  // A Go leader is left out: it sends its pending writes, a hundred here, before it notices.
  test.for([oursAndOurs, oursAndGo])(
    'when the leader is paused beyond its lease and resumes, with pending work ($name)',
    async (pair, { signal }) => {
      const [leader, standby] = await startPair(pair, 10 * minutes, signal, ',serviceaccount-controller');
      leader.pause();
      await working(standby, signal);
      const before = countWork(auditLog.read(), leader.user);
      // The standby runs no controller for these, so the resumed leader finds them pending.
      for (const name of stale) await client.create(Namespaces, { metadata: { name } }, signal);
      leader.resume();
      await leader.exited;
      await working(standby, signal);
      expect(countWork(auditLog.read(), leader.user)).toBe(before);
      expect(unledWork()).toEqual([]);
      for (const name of stale) {
        const { items } = await client.listAll(ServiceAccounts, { namespace: name }, signal);
        expect(items).toEqual([]);
        await removeNamespace(name, signal);
      }
    },
  );

  test.for([oursAndOurs, goAndOurs])(
    'when the API server is paused beyond the lease ($name)',
    async (pair, { signal }) => {
      const [leader, standby] = await startPair(pair, -10 * minutes, signal);
      getCluster().apiServer.pause();
      await leader.exited;
      getCluster().apiServer.resume();
      await working(standby, signal);
      expect(unledWork()).toEqual([]);
    },
  );

  test.for([oursAndOurs, oursAndGo])('when etcd is paused beyond the lease ($name)', async (pair, { signal }) => {
    const [leader, standby] = await startPair(pair, 10 * minutes, signal);
    getCluster().etcd.pause();
    await leader.exited;
    getCluster().etcd.resume();
    await working(standby, signal);
    expect(unledWork()).toEqual([]);
  });

  test('when another client takes the lease and never renews it', async ({ signal }) => {
    const [leader, standby] = await startPair(oursAndOurs, -10 * minutes, signal);
    await changeLease((lease) => ({ ...lease, spec: { ...lease.spec, holderIdentity: 'stranger' } }), signal);
    await leader.exited;
    await working(standby, signal);
    expect(unledWork()).toEqual([]);
  });

  // A Go standby acquires a missing lease at once, even while the leader is active: it is left out here.
  test.for([oursAndOurs, goAndOurs])('when the lease is deleted, again and again ($name)', async (pair, { signal }) => {
    const [leader, standby] = await startPair(pair, 10 * minutes, signal);
    for (let round = 0; round < 5; round += 1) {
      // A standby may acquire a lease that it has never observed, or not for a lease duration: the leader may be dead.
      await observesLease(standby, signal);
      await client.delete(Leases, leaseKey, {}, signal);
      await eventually(() => client.get(Leases, leaseKey, signal), signal);
    }
    await working(leader, signal);
    expect(unledWork()).toEqual([]);
  });
});

/** No namespace controller runs. */
async function removeNamespace(name: string, signal: AbortSignal): Promise<void> {
  const key = keyOf({ metadata: { name } });
  await client.delete(Namespaces, key, {}, signal);
  const terminating = await client.get(Namespaces, key, signal);
  await client.finalizeNamespace({ ...terminating, spec: { ...terminating.spec, finalizers: [] } }, signal);
}
