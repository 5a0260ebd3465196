import { createMetricsRegistry } from '../../../pkg/metrics/index.ts';
import { systemClock } from '../../../pkg/time/index.ts';
import { createWorkQueue, exponentialLimiter, type WorkQueue } from '../../../workqueue/index.ts';

const { signal } = new AbortController();

/** With metrics, as in production. */
function newQueue(): WorkQueue<string> {
  const rateLimiter = exponentialLimiter<string>({ baseMs: 5, maxMs: 1_000_000 });
  return createWorkQueue({ name: 'bench', clock: systemClock, metrics: createMetricsRegistry(), rateLimiter });
}

async function takeAll(queue: WorkQueue<string>): Promise<void> {
  for (let key = await queue.take(signal); key !== undefined; key = await queue.take(signal)) queue.done(key);
}

type Scenario = (keys: readonly string[]) => Promise<void>;

const scenarios: Readonly<Record<string, Scenario>> = {
  /** All keys wait before the first is taken, like after a restart in a full cluster. */
  async 'add all, then take and done'(keys) {
    const queue = newQueue();
    for (const key of keys) queue.add(key);
    await queue.shutDown();
    await takeAll(queue);
  },
  /** Workers take keys while others are added, like in a busy cluster. */
  async 'add to five workers'(keys) {
    const queue = newQueue();
    const workers = Array.from({ length: 5 }, () => takeAll(queue));
    for (const [i, key] of keys.entries()) {
      queue.add(key);
      if (i % 5 === 4) await Promise.resolve();
    }
    await queue.shutDown();
    await Promise.all(workers);
  },
  async 'add a key that waits already'(keys) {
    const queue = newQueue();
    for (let i = 0; i < keys.length; i++) queue.add('namespace/name');
    await queue.shutDown();
    await takeAll(queue);
  },
  /** Every key fails once: delays in the heap, one timer, then as above. */
  async 'addRateLimited, wait, take and done'(keys) {
    const queue = newQueue();
    for (const key of keys) queue.addRateLimited(key);
    for (let left = keys.length; left > 0; left--) {
      const key = await queue.take(signal);
      if (key === undefined) throw new Error('the queue ended early');
      queue.forget(key);
      queue.done(key);
    }
    await queue.shutDown();
  },
};

/** Runs each scenario twice, first to warm up, and returns the time of the second run. */
export async function runQueueScenarios(count: number, answer: (result: object) => void): Promise<void> {
  const keys = Array.from({ length: count }, (_, i) => `namespace-${i % 100}/name-${i}`);
  for (const [scenario, run] of Object.entries(scenarios)) {
    await run(keys);
    const cpuBefore = process.cpuUsage();
    const startMs = performance.now();
    await run(keys);
    const seconds = (performance.now() - startMs) / 1000;
    const { user, system } = process.cpuUsage(cpuBefore);
    answer({ scenario, seconds, cpuSeconds: (user + system) / 1e6 });
  }
}
