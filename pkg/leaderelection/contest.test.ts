import { describe, expect, test } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { seededRandom } from '../../test/support/random.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { ConnectionError } from '../client/index.ts';
import { LeaderElector } from './elector.ts';

const forever = new AbortController().signal;

/** A network that delays and loses requests and responses, and delivers requests long after their timeout. */
function makeUnreliable(client: RecordingClient, clock: FakeClock, random: () => number): void {
  let brokenUntilMs = 0;
  client.before('*', async () => {
    if (random() < 0.03) brokenUntilMs = clock.monotonic() + random() * 40_000;
    await clock.sleep(random() < 0.1 ? random() * 20_000 : random() * 300, forever);
    if (clock.monotonic() < brokenUntilMs) throw new ConnectionError('lost', { mayHaveBeenSent: false });
  });
  client.after('*', async () => {
    await clock.sleep(random() * 300, forever);
    if (random() < 0.05) throw new ConnectionError('answer lost', { mayHaveBeenSent: true });
  });
}

describe('three candidates over an unreliable network', () => {
  for (const seed of [1, 2, 3, 4]) {
    test(`never have two leaders at once (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const clock = new FakeClock();
      const server = new RecordingClient();
      const stop = new AbortController();
      const leading = new Set<string>();
      const terms: string[] = [];
      const overlaps: string[] = [];

      const runCandidate = async (name: string): Promise<void> => {
        for (let life = 1; !stop.signal.aborted; life += 1) {
          const identity = `${name}-${life}`;
          const client = new RecordingClient({ sharing: server });
          makeUnreliable(client, clock, random);
          const elector = new LeaderElector({
            client,
            clock,
            lock: { namespace: 'a', name: 'lease' },
            identity,
            leaseDurationMs: 15_000,
            renewDeadlineMs: 10_000,
            retryPeriodMs: 2000,
            releaseOnCancel: random() < 0.5,
            logger: silentLogger,
            random,
          });
          const lead = async (signal: AbortSignal): Promise<void> => {
            if (leading.size > 0) overlaps.push(`${identity} beside ${[...leading].join()} at ${clock.monotonic()}`);
            leading.add(identity);
            terms.push(identity);
            // Some stop by themselves, and all need some time to stop.
            await clock.sleep(random() * 200_000, signal).catch(() => undefined);
            await clock.sleep(random() * 4000, forever);
            leading.delete(identity);
          };
          await elector.run(lead, stop.signal).catch(() => undefined);
        }
      };

      const running = Promise.all(['a', 'b', 'c'].map(runCandidate));
      await clock.advance(20_000_000);
      stop.abort();
      await clock.advance(100_000);
      await running;
      expect(overlaps).toEqual([]);
      expect(terms.length).toBeGreaterThan(100);
    });
  }
});
