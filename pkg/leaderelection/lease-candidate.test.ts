import { describe, expect, test } from 'vitest';

import { LeaseCandidates, objectKey, type LeaseCandidate } from '../api/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { isAsked, planRenewal, runLeaseCandidate } from './lease-candidate.ts';

const spec = (pingTime?: string, renewTime?: string): LeaseCandidate['spec'] => ({
  leaseName: 'x',
  binaryVersion: '1.36.4',
  strategy: 'OldestEmulationVersion',
  pingTime,
  renewTime,
});
const at = (micros: number): string => `2026-01-01T00:00:00.${String(micros).padStart(6, '0')}Z`;

describe('a renewal', () => {
  const rows = [
    { name: 'is not asked for at first', ping: undefined, renew: at(1), asked: false },
    { name: 'is asked for within the same millisecond', ping: at(2), renew: at(1), asked: true },
    { name: 'has been made', ping: at(1), renew: at(2), asked: false },
    { name: 'has been made at the same time', ping: at(1), renew: at(1), asked: false },
    { name: 'was never made', ping: at(1), renew: undefined, asked: true },
  ];
  for (const { name, ping, renew, asked } of rows) {
    test(name, () => expect(isAsked({ spec: spec(ping, renew) })).toBe(asked));
  }

  test('is never before it was asked for, or the API server would ask for ever', () => {
    expect(planRenewal(spec(at(5), at(1)), at(3)).renewTime).toBe(at(5));
    expect(planRenewal(spec(at(5), at(1)), at(7)).renewTime).toBe(at(7));
    expect(planRenewal(spec(), at(7)).renewTime).toBe(at(7));
  });
});

describe('a candidate', () => {
  const candidate = {
    identity: 'host_1',
    lock: { namespace: 'kube-system', name: 'manager' },
    binaryVersion: '1.36.4',
    emulationVersion: '1.36.0',
  };
  const key = objectKey('kube-system', 'host_1');
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  };

  async function whileRunning(use: (client: RecordingClient, clock: FakeClock) => Promise<void>): Promise<void> {
    const clock = new FakeClock();
    const client = new RecordingClient({ now: () => clock.now() });
    const stop = new AbortController();
    const running = runLeaseCandidate({ client, clock, logger: silentLogger, candidate }, stop.signal);
    await settle();
    await use(client, clock);
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  }
  const stored = (client: RecordingClient): LeaseCandidate['spec'] | undefined =>
    client.stored(LeaseCandidates)[0]?.spec;
  const { signal } = new AbortController();

  test('announces its versions and the lease that it wants', () =>
    whileRunning(async (client) => {
      expect(stored(client)).toMatchObject({
        leaseName: 'manager',
        binaryVersion: '1.36.4',
        emulationVersion: '1.36.0',
        strategy: 'OldestEmulationVersion',
        renewTime: expect.any(String),
      });
    }));

  test('renews when it is asked, and only then', () =>
    whileRunning(async (client, clock) => {
      await clock.advance(1000);
      const pingTime = new Date(clock.now()).toISOString().replace('Z', '000Z');
      const patch = { type: 'merge', body: { spec: { pingTime } } } as const;
      const before = client.writes.length;
      await client.patch(LeaseCandidates, key, patch, signal);
      await settle();
      expect(stored(client)?.renewTime).toBe(pingTime);
      await client.patch(LeaseCandidates, key, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } }, signal);
      await settle();
      expect(client.writes.length).toBe(before + 3);
    }));

  test('comes back when somebody deletes it', () =>
    whileRunning(async (client) => {
      await client.delete(LeaseCandidates, key, {}, signal);
      await settle();
      expect(stored(client)?.leaseName).toBe('manager');
    }));

  test('tries again after an error', () =>
    whileRunning(async (client, clock) => {
      const remove = client.before('create', () => {
        remove();
        throw apiError(500, 'InternalError');
      });
      await client.delete(LeaseCandidates, key, {}, signal);
      await settle();
      expect(stored(client)).toBeUndefined();
      await clock.advance(1000);
      await settle();
      expect(stored(client)?.leaseName).toBe('manager');
    }));
});
