/**
 * Work queue operations per second, one at a time and with workers, with metrics kept as in production:
 * `node test/bench/workqueue.ts [keys]`.
 */
import { createMetricsRegistry } from '../../pkg/metrics/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { createWorkQueue, exponentialLimiter, type RateLimiter, type WorkQueue } from '../../workqueue/index.ts';

const keys = Array.from({ length: Number(process.argv[2] ?? 500_000) }, (_, i) => `namespace-${i % 100}/name-${i}`);
const { signal } = new AbortController();

function newQueue(rateLimiter?: RateLimiter<string>): WorkQueue<string> {
  return createWorkQueue<string>({ name: 'bench', clock: systemClock, metrics: createMetricsRegistry(), rateLimiter });
}

async function takeAll(queue: WorkQueue<string>): Promise<void> {
  for (let key = await queue.take(signal); key !== undefined; key = await queue.take(signal)) queue.done(key);
}

const scenarios: Readonly<Record<string, () => Promise<void>>> = {
  /** All keys wait before the first is taken: what a restart with a full cluster looks like. */
  async 'add all, then take and done'() {
    const queue = newQueue();
    for (const key of keys) queue.add(key);
    await queue.shutDown();
    await takeAll(queue);
  },
  /** Each key comes to idle workers: what a quiet cluster looks like. */
  async 'add to five waiting workers'() {
    const queue = newQueue();
    const workers = Array.from({ length: 5 }, () => takeAll(queue));
    for (const [i, key] of keys.entries()) {
      queue.add(key);
      if (i % 5 === 4) await Promise.resolve();
    }
    await queue.shutDown();
    await Promise.all(workers);
  },
  async 'add a key that waits already'() {
    const queue = newQueue();
    for (let i = 0; i < keys.length; i++) queue.add('namespace/name');
    await queue.shutDown();
    await takeAll(queue);
  },
  /** Every key fails once: delays in the heap, one timer, then as above. */
  async 'addRateLimited, wait, take and done'() {
    const queue = newQueue(exponentialLimiter({ baseMs: 5, maxMs: 1_000_000 }));
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

for (const [name, run] of Object.entries(scenarios)) {
  await run(); // once to warm up
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await run();
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const perSecond = Math.round(keys.length / seconds).toLocaleString('en');
  console.log(`${name}: ${perSecond} keys/s, ${((user + system) / keys.length).toFixed(2)} µs CPU a key`);
}
