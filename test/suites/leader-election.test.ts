import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { CoreEvents, keyOf, Leases, parseTime, type LeaseSpec } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { EventBroadcaster } from '../../pkg/events/index.ts';
import { LeaderElector, LeaderLostError, type LeaderElectionOptions } from '../../pkg/leaderelection/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { followLease } from '../support/follow-lease.ts';
import { silentLogger } from '../support/loggers.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const getCluster = useCluster();
let clients: ClientBuilder;
let client: Client;
let namespace: string;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: getCluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  client = clients.clientFor('test');
  namespace = await createNamespace(getCluster(), 'election');
});
afterAll(() => clients.close());

/** A candidate that records its work. */
function startCandidate(name: string, identity: string, changes: Partial<LeaderElectionOptions> = {}) {
  const options: LeaderElectionOptions = {
    client: clients.clientFor(identity),
    clock: systemClock,
    lock: { namespace, name },
    identity,
    leaseDurationMs: 3000,
    renewDeadlineMs: 2000,
    retryPeriodMs: 250,
    releaseOnCancel: true,
    logger: silentLogger,
    ...changes,
  };
  const leading = Promise.withResolvers<number>();
  const stopped = Promise.withResolvers<number>();
  const stop = new AbortController();
  const elector = new LeaderElector(options);
  const ended = elector
    .run(async (signal) => {
      leading.resolve(Date.now());
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      stopped.resolve(Date.now());
    }, stop.signal)
    .then(
      () => 'stopped',
      (error: unknown) => error,
    );
  return { elector, stop: () => stop.abort(), leading: leading.promise, stopped: stopped.promise, ended };
}

async function getLease(name: string, signal: AbortSignal): Promise<LeaseSpec> {
  return (await client.get(Leases, keyOf({ metadata: { namespace, name } }), signal)).spec ?? {};
}

describe('two candidates on one lease', () => {
  test('hand over at once on a clean stop', async ({ signal }) => {
    // Ten minutes: only a released lease can get a new holder within this test.
    const long = { leaseDurationMs: 600_000, renewDeadlineMs: 300_000 };
    const first = startCandidate('clean', 'first', long);
    await first.leading;
    const history = await followLease(client, { namespace, name: 'clean' });
    const second = startCandidate('clean', 'second', long);
    first.stop();
    expect(await first.ended).toBe('stopped');
    expect(await second.leading).toBeGreaterThanOrEqual(await first.stopped);
    await history.end();
    expect(history.specs).toContainEqual(
      expect.objectContaining({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 }),
    );
    expect(await getLease('clean', signal)).toMatchObject({
      holderIdentity: 'second',
      leaseDurationSeconds: 600,
      leaseTransitions: 1,
      acquireTime: expect.stringMatching(/\.\d{6}Z$/),
    });
    second.stop();
    await second.ended;
  });

  test('hand over after a lease duration when the leader stops without releasing the lease', async ({ signal }) => {
    const first = startCandidate('gone', 'first', { releaseOnCancel: false });
    await first.leading;
    const second = startCandidate('gone', 'second');
    first.stop();
    await first.ended;
    const last = await getLease('gone', signal);
    await second.leading;
    const taken = await getLease('gone', signal);
    const [takenMs = 0, renewedMs = Infinity] = [parseTime(taken.acquireTime), parseTime(last.renewTime)];
    expect(takenMs - renewedMs).toBeGreaterThanOrEqual(3000);
    expect(taken).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
    second.stop();
    await second.ended;
  });

  test('have one leader at most while the server hangs for longer than the renew deadline', async ({ signal }) => {
    const slow = { leaseDurationMs: 6000, renewDeadlineMs: 3000 };
    const first = startCandidate('paused', 'first', slow);
    await first.leading;
    const second = startCandidate('paused', 'second', slow);
    const lastRenewal = parseTime((await getLease('paused', signal)).renewTime) ?? Infinity;
    getCluster().apiServer.pause();
    const error = await first.ended;
    getCluster().apiServer.resume();
    expect(error).toBeInstanceOf(LeaderLostError);
    const stopped = await first.stopped;
    expect(stopped - lastRenewal).toBeGreaterThanOrEqual(3000);
    await second.leading;
    const { acquireTime, renewTime, holderIdentity } = await getLease('paused', signal);
    expect(holderIdentity).toBe('second');
    expect(parseTime(acquireTime ?? renewTime ?? '')).toBeGreaterThan(stopped);
    second.stop();
    await second.ended;
  });

  test('have one leader at most while the server restarts', async () => {
    const long = { leaseDurationMs: 60_000, renewDeadlineMs: 50_000 };
    const first = startCandidate('restart', 'first', long);
    await first.leading;
    const second = startCandidate('restart', 'second', long);
    await getCluster().apiServer.restart();
    expect(first.elector.isLeader).toBe(true);
    first.stop();
    expect(await first.ended).toBe('stopped');
    expect(await second.leading).toBeGreaterThanOrEqual(await first.stopped);
    second.stop();
    await second.ended;
  });

  test('a leader records events on the lease', async ({ signal }) => {
    const stop = new AbortController();
    const events = new EventBroadcaster({ client, clock: systemClock, logger: silentLogger });
    const sending = events.run(stop.signal);
    const only = startCandidate('told', 'only', { events: events.recorderFor('kube-controller-manager') });
    await only.leading;
    only.stop();
    await only.ended;
    stop.abort();
    await sending;
    const about = { namespace, fieldSelector: 'involvedObject.kind=Lease,involvedObject.name=told' };
    const { items } = await client.listAll(CoreEvents, about, signal);
    expect(new Set(items.map(({ message }) => message))).toEqual(
      new Set(['only became leader', 'only stopped leading']),
    );
  });
});
