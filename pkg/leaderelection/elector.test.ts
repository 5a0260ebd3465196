import { describe, expect, test } from 'vitest';

import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { keyOf, Leases, type Lease, type LeaseSpec } from '../api/index.ts';
import { ConnectionError } from '../client/index.ts';
import type { NewEvent } from '../events/index.ts';
import type { LeaderElectionOptions } from './election-options.ts';
import { LeaderElector, newIdentity, type Lead } from './elector.ts';
import { LeaderLostError } from './leader-lost-error.ts';

const nowhere = (): void => undefined;

/** The clock of a process that was paused: time has advanced, and no timer has fired yet. */
class PausingClock extends FakeClock {
  pausedMs = 0;

  override monotonic(): number {
    return super.monotonic() + this.pausedMs;
  }
}
const lock = { namespace: 'kube-system', name: 'kcm' };

/** One candidate on a fake clock, with its client, logs, events and metrics. */
function createCandidate(clock: FakeClock, client: RecordingClient, changes: Partial<LeaderElectionOptions> = {}) {
  const seen = { leaders: [] as string[], events: [] as string[], leading: [] as boolean[], slowPaths: 0 };
  const options: LeaderElectionOptions = {
    client,
    clock,
    lock,
    identity: 'us',
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2000,
    releaseOnCancel: true,
    logger: silentLogger,
    random: () => 0,
    metrics: {
      setLeading: (_name, leading) => void seen.leading.push(leading),
      countSlowPath: () => void (seen.slowPaths += 1),
    },
    onNewLeader: (identity) => void seen.leaders.push(identity),
    events: { event: (_kind, _about, { message }: NewEvent) => void seen.events.push(message) },
    ...changes,
  };
  const elector = new LeaderElector(options);
  const stop = new AbortController();
  const work = { started: false, abortedAtMs: undefined as number | undefined, reason: undefined as unknown };
  const leadUntilAborted: Lead = async (signal) => {
    work.started = true;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    work.abortedAtMs = clock.monotonic();
    work.reason = signal.reason;
  };
  const run = (lead: Lead = leadUntilAborted): Promise<unknown> =>
    elector.run(lead, stop.signal).then(
      () => 'stopped',
      (error: unknown) => error,
    );
  return { elector, stop, work, run, seen };
}

function specOf(client: RecordingClient): LeaseSpec | undefined {
  return client.stored(Leases)[0]?.spec;
}

function seedLease(client: RecordingClient, spec: LeaseSpec): Lease {
  return client.seed(Leases, { metadata: { ...lock, labels: { kept: 'yes' } }, spec });
}

const hang = (_action: unknown, signal: AbortSignal): Promise<void> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
const refuse = (): never => {
  throw new ConnectionError('refused', { mayHaveBeenSent: false });
};

describe('LeaderElector', () => {
  test('creates the lease, leads, and releases it on a clean stop', async () => {
    const clock = new FakeClock('2026-01-01T00:00:00Z');
    const client = new RecordingClient();
    const { elector, stop, work, run, seen } = createCandidate(clock, client);
    const running = run();
    await settle();
    expect(specOf(client)).toEqual({
      holderIdentity: 'us',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    expect(work.started).toBe(true);
    expect(elector.isLeader).toBe(true);
    await clock.advance(5000);
    stop.abort();
    expect(await running).toBe('stopped');
    expect(specOf(client)).toEqual({
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: '2026-01-01T00:00:05.000000Z',
      renewTime: '2026-01-01T00:00:05.000000Z',
      leaseTransitions: 0,
    });
    expect(seen).toEqual({
      leaders: ['us'],
      events: ['us became leader', 'us stopped leading'],
      leading: [false, true, false],
      slowPaths: 0,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  test('renews every retry period with a single update', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const { stop, run } = createCandidate(clock, client);
    const running = run();
    await clock.advance(6000);
    expect(client.actions.map(({ verb }) => verb)).toEqual(['get', 'create', 'update', 'update', 'update']);
    stop.abort();
    await running;
  });

  test('keeps fields that are not part of the record', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    seedLease(client, { holderIdentity: '', strategy: 'OldestEmulationVersion', preferredHolder: 'p' });
    const { stop, run } = createCandidate(clock, client);
    const running = run();
    await clock.advance(2000);
    stop.abort();
    await running;
    expect(client.stored(Leases)[0]).toMatchObject({
      metadata: { labels: { kept: 'yes' } },
      spec: { strategy: 'OldestEmulationVersion', preferredHolder: 'p', leaseTransitions: 1 },
    });
  });

  test('acquires a lease only after it has not changed for its duration of the local clock', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    // By its times, the lease expired long ago and was renewed in the far future. Neither may count.
    const times = { acquireTime: '2001-01-01T00:00:00.000000Z', renewTime: '2099-01-01T00:00:00.000000Z' };
    seedLease(client, { holderIdentity: 'them', leaseDurationSeconds: 15, leaseTransitions: 7, ...times });
    const { stop, work, run, seen } = createCandidate(clock, client);
    const running = run();
    await clock.advance(14_999);
    expect(work.started).toBe(false);
    await clock.advance(2000);
    expect(work.started).toBe(true);
    expect(specOf(client)).toMatchObject({ holderIdentity: 'us', leaseTransitions: 8 });
    expect(seen.leaders).toEqual(['them', 'us']);
    stop.abort();
    await running;
  });

  test('adds a jitter of up to 1.2 retry periods to the attempts of candidates', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    seedLease(client, { holderIdentity: 'them', leaseDurationSeconds: 15 });
    const { stop, run } = createCandidate(clock, client, { random: () => 0.5 });
    const running = run();
    await settle();
    expect(clock.nextTimerMs).toBe(3200);
    stop.abort();
    expect(await running).toBe('stopped');
    expect(client.writes).toEqual([]);
  });

  test('only one of two candidates that try at the same time leads', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const candidates = ['a', 'b'].map((identity) => createCandidate(clock, client, { identity }));
    const running = candidates.map(({ run }) => run());
    await clock.advance(60_000);
    expect(candidates.filter(({ work }) => work.started)).toHaveLength(1);
    for (const { stop } of candidates) stop.abort();
    await Promise.all(running);
  });

  test('the next candidate acquires a released lease with its next attempt', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const [first, second] = [
      createCandidate(clock, client, { identity: 'a' }),
      createCandidate(clock, client, { identity: 'b' }),
    ];
    const leading = first.run();
    await settle();
    const waiting = second.run();
    await clock.advance(5000);
    first.stop.abort();
    await leading;
    expect(second.work.started).toBe(false);
    await clock.advance(2000);
    expect(second.work.started).toBe(true);
    second.stop.abort();
    await waiting;
  });

  const outages = [
    { name: 'cannot be reached', react: refuse },
    { name: 'hangs', react: hang },
  ];
  for (const { name, react } of outages) {
    test(`when the server ${name}, the work is stopped at the renew deadline`, async () => {
      const clock = new FakeClock();
      const client = new RecordingClient();
      const { stop, work, run, seen } = createCandidate(clock, client);
      const running = run();
      await clock.advance(4000); // the last renewal
      client.before('*', react);
      await clock.advance(9999);
      expect(work.abortedAtMs).toBeUndefined();
      await clock.advance(1);
      expect(work.abortedAtMs).toBe(14_000);
      const error = await running;
      expect(error).toBeInstanceOf(LeaderLostError);
      expect(work.reason).toBe(error);
      expect(seen.leading.at(-1)).toBe(false);
      expect(clock.pendingTimers).toBe(0);
      stop.abort();
    });
  }

  test('a hung request leaves time for another before the deadline', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const { stop, work, run } = createCandidate(clock, client);
    const running = run();
    await clock.advance(3000);
    const recover = client.before('update', hang);
    await clock.advance(5000);
    recover();
    await clock.advance(20_000);
    expect(work.abortedAtMs).toBeUndefined();
    stop.abort();
    expect(await running).toBe('stopped');
  });

  test('a renewal whose response was lost is found by a read', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const { stop, work, run, seen } = createCandidate(clock, client);
    const running = run();
    await clock.advance(1000);
    const recover = client.after('update', refuse);
    await clock.advance(4000);
    recover();
    await clock.advance(20_000);
    expect(work.abortedAtMs).toBeUndefined();
    expect(seen.slowPaths).toBeGreaterThan(0);
    expect(specOf(client)?.leaseTransitions).toBe(0);
    stop.abort();
    expect(await running).toBe('stopped');
  });

  test('a leader that finds another holder stops at once', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const { work, run } = createCandidate(clock, client);
    const running = run();
    await clock.advance(1000);
    const lease = client.stored(Leases)[0];
    if (lease === undefined) throw new Error('no lease');
    await client.update(Leases, { ...lease, spec: { holderIdentity: 'them' } }, new AbortController().signal);
    await clock.advance(1000);
    expect(work.abortedAtMs).toBe(2000);
    expect(await running).toMatchObject({ message: 'lost the lease kube-system/kcm: them holds it' });
    expect(specOf(client)?.holderIdentity).toBe('them');
  });

  test('a leader creates a deleted lease again', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const { stop, work, run } = createCandidate(clock, client);
    const running = run();
    await clock.advance(1000);
    await client.delete(Leases, keyOf({ metadata: lock }), {}, new AbortController().signal);
    await clock.advance(20_000);
    expect(work.abortedAtMs).toBeUndefined();
    expect(specOf(client)?.holderIdentity).toBe('us');
    stop.abort();
    await running;
  });

  test('a candidate waits until a deleted lease would have expired', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    seedLease(client, { holderIdentity: 'them', leaseDurationSeconds: 15, leaseTransitions: 7 });
    const { stop, work, run } = createCandidate(clock, client);
    const running = run();
    await clock.advance(1000);
    await client.delete(Leases, keyOf({ metadata: lock }), {}, new AbortController().signal);
    await clock.advance(13_000);
    expect(work.started).toBe(false);
    await clock.advance(4000);
    expect(work.started).toBe(true);
    stop.abort();
    await running;
  });

  describe('confirmLease', () => {
    test('passes while the lease is renewed', async () => {
      const clock = new FakeClock();
      const { elector, stop, run } = createCandidate(clock, new RecordingClient());
      expect(() => elector.confirmLease()).toThrow(LeaderLostError);
      const running = run();
      await clock.advance(60_000);
      expect(() => elector.confirmLease()).not.toThrow();
      stop.abort();
      expect(await running).toBe('stopped');
    });

    test('throws after a pause of the process and stops the work at once, before any timer has fired', async () => {
      const clock = new PausingClock();
      const client = new RecordingClient();
      const { elector, work, run } = createCandidate(clock, client);
      const running = run();
      await clock.advance(3000);
      const writes = client.actions.length;
      clock.pausedMs = 9000;
      expect(() => elector.confirmLease()).toThrow(LeaderLostError);
      await settle();
      expect(work.reason).toBeInstanceOf(LeaderLostError);
      expect(await running).toBe(work.reason);
      expect(client.actions).toHaveLength(writes); // a lease that another candidate may hold is not released
      expect(clock.pendingTimers).toBe(0);
    });

    test('a late successful renewal does not start the work again', async () => {
      const clock = new PausingClock();
      const client = new RecordingClient();
      const { elector, work, run } = createCandidate(clock, client);
      const running = run();
      await clock.advance(3000);
      const answer = Promise.withResolvers<void>();
      client.before('update', () => answer.promise);
      await clock.advance(1000);
      clock.pausedMs = 9000;
      expect(() => elector.confirmLease()).toThrow(LeaderLostError);
      answer.resolve();
      expect(await running).toBeInstanceOf(LeaderLostError);
      expect(work.reason).toBeInstanceOf(LeaderLostError);
    });
  });

  test('work that ignores its signal is waited for no longer than the lease duration', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const { run } = createCandidate(clock, client);
    const running = run(() => new Promise<void>(nowhere));
    await clock.advance(2000);
    client.before('*', refuse);
    const ended = running.then(() => clock.monotonic());
    await clock.advance(60_000);
    expect(await ended).toBeLessThan(17_000);
    expect(await running).toBeInstanceOf(LeaderLostError);
  });

  test('the lease is renewed while the work stops, and released only then', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const { stop, run } = createCandidate(clock, client);
    const winding = Promise.withResolvers<void>();
    const running = run(() => winding.promise);
    await settle();
    stop.abort();
    await clock.advance(60_000);
    expect(specOf(client)).toMatchObject({ holderIdentity: 'us', renewTime: '2026-01-01T00:01:00.000000Z' });
    winding.resolve();
    expect(await running).toBe('stopped');
    expect(specOf(client)?.holderIdentity).toBe('');
  });

  test('work that is stopping gets an abort at once when the lease is lost', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const { stop, run } = createCandidate(clock, client);
    let lost: AbortSignal | undefined;
    const running = run((_signal, leaseLost) => {
      lost = leaseLost;
      return new Promise<void>((resolve) => leaseLost.addEventListener('abort', () => resolve()));
    });
    await clock.advance(2000);
    stop.abort();
    client.before('*', refuse);
    await clock.advance(9999);
    expect(lost?.aborted).toBe(false);
    await clock.advance(1);
    expect(await running).toBeInstanceOf(LeaderLostError);
    expect(lost?.reason).toBe(await running);
    expect(clock.monotonic()).toBe(12_000);
  });

  test('an error of the work is thrown after the release', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const failure = new Error('work failed');
    expect(await createCandidate(clock, client).run(() => Promise.reject(failure))).toBe(failure);
    expect(specOf(client)?.holderIdentity).toBe('');
  });

  test('work that rejects with the reason of the abort has not failed', async () => {
    const clock = new FakeClock();
    const { stop, run } = createCandidate(clock, new RecordingClient());
    const running = run((signal) => clock.sleep(1e9, signal));
    await settle();
    stop.abort(new Error('stop'));
    expect(await running).toBe('stopped');
  });

  test('without releaseOnCancel the lease is not released', async () => {
    const client = new RecordingClient();
    const { stop, run } = createCandidate(new FakeClock(), client, { releaseOnCancel: false });
    const running = run();
    await settle();
    stop.abort();
    await running;
    expect(specOf(client)).toMatchObject({ holderIdentity: 'us', leaseDurationSeconds: 15 });
  });

  test('a candidate stopped during its write releases the lease that it may hold', async () => {
    const client = new RecordingClient();
    const { stop, run, work } = createCandidate(new FakeClock(), client);
    const restore = client.after('create', async (action, signal) => {
      stop.abort();
      await hang(action, signal);
    });
    expect(await run()).toBe('stopped');
    restore();
    expect(work.started).toBe(false);
    expect(specOf(client)?.holderIdentity).toBe('');
  });

  test('a response after the renew deadline starts no work', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    seedLease(client, { holderIdentity: 'us', leaseDurationSeconds: 15 });
    const { stop, run, work } = createCandidate(clock, client, { identity: 'us' });
    // A stalled process: the timer of the request fires only after its response is read.
    client.after('update', () => void Reflect.set(clock, 'monotonic', () => 10_000));
    const running = run();
    await settle();
    expect(work.started).toBe(false);
    stop.abort();
    await running;
  });

  test('an error of onNewLeader is only logged', async () => {
    const onNewLeader = (): never => {
      throw new Error('listener');
    };
    const { stop, run, work } = createCandidate(new FakeClock(), new RecordingClient(), { onNewLeader });
    const running = run();
    await settle();
    expect(work.started).toBe(true);
    stop.abort();
    expect(await running).toBe('stopped');
  });

  test('a candidate keeps trying after rejected writes', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const allow = client.before('create', () => {
      throw apiError(403, 'Forbidden');
    });
    const { stop, run, work } = createCandidate(clock, client);
    const running = run();
    await clock.advance(10_000);
    expect(work.started).toBe(false);
    allow();
    await clock.advance(2000);
    expect(work.started).toBe(true);
    stop.abort();
    await running;
  });

  test('the health check fails only for a leader whose lease expired more than 20 s ago', async () => {
    const clock = new FakeClock();
    const client = new RecordingClient();
    const { elector, run } = createCandidate(clock, client);
    const check = (): string | undefined => elector.healthCheck.check();
    expect(check()).toBeUndefined();
    const running = run(() => new Promise<void>(nowhere));
    await clock.advance(2000);
    client.before('*', refuse);
    await clock.advance(35_000);
    expect(check()).toBeUndefined();
    await clock.advance(1);
    expect(check()).toBe('failed election to renew leadership on lease kcm');
    await running;
  });
});

test('identities are the host name and a unique suffix', () => {
  expect(newIdentity('host')).toMatch(/^host_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(newIdentity('host')).not.toBe(newIdentity('host'));
});

describe('LeaderElector in a coordinated election', () => {
  const coordinated = { coordinated: true };
  const given = { holderIdentity: 'us', leaseDurationSeconds: 5, strategy: 'OldestEmulationVersion' };

  test('creates no lease, takes none, and leads once it has been given one', async () => {
    const clock = new FakeClock('2026-01-01T00:00:00Z');
    const client = new RecordingClient();
    const { stop, work, run } = createCandidate(clock, client, coordinated);
    const running = run();
    await clock.advance(60_000);
    const lease = seedLease(client, { ...given, holderIdentity: 'them' });
    await clock.advance(60_000);
    expect([work.started, client.writes]).toEqual([false, []]);
    await client.update(Leases, { ...lease, spec: given }, stop.signal);
    await clock.advance(2000);
    expect(work.started).toBe(true);
    expect(specOf(client)).toMatchObject({ ...given, leaseDurationSeconds: 15 });
    stop.abort();
    expect(await running).toBe('stopped');
    expect(specOf(client)).toMatchObject({ holderIdentity: '', strategy: 'OldestEmulationVersion' });
  });

  test('ends its term at once when another candidate is to be next, and does not release the lease', async () => {
    const clock = new FakeClock('2026-01-01T00:00:00Z');
    const client = new RecordingClient();
    seedLease(client, given);
    const { stop, work, run } = createCandidate(clock, client, coordinated);
    const running = run();
    await clock.advance(5000);
    const [lease] = client.stored(Leases);
    if (lease === undefined) throw new Error('the lease is gone');
    await client.update(Leases, { ...lease, spec: { ...lease.spec, preferredHolder: 'them' } }, stop.signal);
    const untilMs = clock.monotonic() + 2000;
    await clock.advance(2000);
    expect(await running).toMatchObject({
      name: 'LeaderLostError',
      message: expect.stringContaining('them is to hold it next'),
    });
    expect(work.abortedAtMs).toBeLessThanOrEqual(untilMs);
    expect(specOf(client)).toMatchObject({ holderIdentity: 'us', preferredHolder: 'them' });
  });

  test('stops at the renew deadline when the lease has been deleted', async () => {
    const clock = new FakeClock('2026-01-01T00:00:00Z');
    const client = new RecordingClient();
    const lease = seedLease(client, given);
    const { stop, run } = createCandidate(clock, client, coordinated);
    const running = run();
    await settle();
    await client.delete(Leases, keyOf(lease), {}, stop.signal);
    await clock.advance(12_000);
    expect(await running).toBeInstanceOf(LeaderLostError);
    expect(specOf(client)).toBeUndefined();
  });
});
