import { expect, test } from 'vitest';

import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { Leases } from '../api/index.ts';
import { LeaderElector } from './elector.ts';

const lock = { namespace: 'kube-system', name: 'kcm' };

function setUp() {
  const clock = new FakeClock();
  const client = new RecordingClient({ now: () => clock.now() });
  const elector = new LeaderElector({
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
  });
  const stop = new AbortController();
  const lead = async (signal: AbortSignal): Promise<void> => clock.sleep(600_000, signal).catch(() => undefined);
  const running = elector.run(lead, stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { clock, client, elector, end };
}

test('inspect knows no holder before the first observation', async () => {
  const { elector, end } = setUp();
  const unknown = { lock, holder: '', isOurs: false, renewedAgoMs: undefined, durationMs: 15_000 };
  expect(elector.inspect()).toEqual(unknown);
  await end();
});

test('inspect tells that we hold the lease, and when it was renewed', async () => {
  const { clock, elector, end } = setUp();
  await settle();
  expect(elector.inspect()).toEqual({ lock, holder: 'us', isOurs: true, renewedAgoMs: 0, durationMs: 15_000 });
  await clock.advance(1500);
  expect(elector.inspect().renewedAgoMs).toBe(1500);
  await clock.advance(500);
  expect(elector.inspect().renewedAgoMs).toBe(0);
  await end();
});

test('inspect tells who else holds the lease, and since when it was not renewed', async () => {
  const { clock, client, elector, end } = setUp();
  const times = { acquireTime: '2026-01-01T00:00:00.000000Z', renewTime: '2026-01-01T00:00:00.000000Z' };
  client.seed(Leases, { metadata: lock, spec: { holderIdentity: 'them', leaseDurationSeconds: 15, ...times } });
  await clock.advance(9000);
  expect(elector.inspect()).toEqual({ lock, holder: 'them', isOurs: false, renewedAgoMs: 9000, durationMs: 15_000 });
  await end();
});
