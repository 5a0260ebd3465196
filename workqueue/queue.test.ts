import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createMetricsRegistry } from '../pkg/metrics/index.ts';
import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { parsePrometheusText, sampleValue } from '../test/support/prometheus-text.ts';
import { seededRandom } from '../test/support/random.ts';
import { InvalidDelayError } from './delay-heap.ts';
import { createWorkQueue } from './queue.ts';

function createQueue() {
  const clock = new FakeClock();
  const queue = createWorkQueue<string>({ name: 'test', clock });
  const stop = new AbortController();
  return { clock, queue, stop, signal: stop.signal };
}

/** Whether a promise has settled by now, without waiting for it. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, settle().then(() => pending)])) === pending;
}

describe('adding and taking', () => {
  test('keys are taken in the order they were added, each once', async () => {
    const { queue, signal } = createQueue();
    for (const key of ['b', 'a', 'b', 'c', 'a']) queue.add(key);
    expect(queue.length).toBe(3);
    expect([await queue.take(signal), await queue.take(signal), await queue.take(signal)]).toEqual(['b', 'a', 'c']);
    expect(queue.length).toBe(0);
  });

  test('a key added while in progress is queued again afterwards, once', async () => {
    const { queue, signal } = createQueue();
    queue.add('a');
    await queue.take(signal);
    queue.add('a');
    queue.add('a');
    expect(queue.length).toBe(0);
    const next = queue.take(signal);
    expect(await isPending(next)).toBe(true);
    queue.done('a');
    expect(await next).toBe('a');
    queue.done('a');
    expect(queue.length).toBe(0);
  });

  test('a key added again while in progress goes to the end', async () => {
    const { queue, signal } = createQueue();
    queue.add('a');
    await queue.take(signal);
    queue.add('a');
    queue.add('b');
    queue.done('a');
    expect([await queue.take(signal), await queue.take(signal)]).toEqual(['b', 'a']);
  });

  test('a key that is done is not queued until it is added again', async () => {
    const { queue, signal } = createQueue();
    queue.add('a');
    await queue.take(signal);
    queue.done('a');
    expect(queue.length).toBe(0);
    queue.add('a');
    expect(await queue.take(signal)).toBe('a');
  });

  test('done for a key that is not in progress has no effect', async () => {
    const { queue, signal } = createQueue();
    queue.add('a');
    queue.done('a');
    queue.done('b');
    expect(queue.length).toBe(1);
    expect(await queue.take(signal)).toBe('a');
  });

  test('waiting workers are served first come, first served', async () => {
    const { queue, signal } = createQueue();
    const takes = [queue.take(signal), queue.take(signal), queue.take(signal)];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all(takes.slice(0, 2))).toEqual(['a', 'b']);
    queue.add('c');
    expect(await takes[2]).toBe('c');
  });
});

describe('a spare worker', () => {
  function createGroupedQueue() {
    const stop = new AbortController();
    const groupOf = (key: string): string => key.charAt(0);
    const queue = createWorkQueue<string>({ name: 'test', clock: new FakeClock(), groupOf });
    const add = (...keys: readonly string[]): void => keys.forEach((key) => queue.add(key));
    return { queue, add, signal: stop.signal, stop };
  }

  test('waits while a worker is free', async () => {
    const { queue, add, signal } = createGroupedQueue();
    const spare = queue.takeSpare(2, signal);
    add('a1', 'b1');
    expect(await queue.take(signal)).toBe('a1');
    expect(await isPending(spare)).toBe(true);
    expect(queue.length).toBe(1);
  });

  test('waits while workers are busy with several groups', async () => {
    const { queue, add, signal } = createGroupedQueue();
    const spare = queue.takeSpare(2, signal);
    add('a1', 'b1', 'c1');
    await Promise.all([queue.take(signal), queue.take(signal)]);
    expect(await isPending(spare)).toBe(true);
  });

  test('takes the keys of other groups while one group occupies all workers', async () => {
    const { queue, add, signal } = createGroupedQueue();
    add('a1', 'a2', 'a3');
    await Promise.all([queue.take(signal), queue.take(signal)]);
    const spare = queue.takeSpare(2, signal);
    expect(await isPending(spare)).toBe(true);
    add('b1', 'b2');
    expect(await spare).toBe('b1');
    queue.done('b1');
    expect(await queue.takeSpare(2, signal)).toBe('b2');
    expect(queue.length).toBe(1);
  });

  test('takes a key that was already waiting when the last worker became busy', async () => {
    const { queue, add, signal } = createGroupedQueue();
    add('a1', 'b1', 'a2');
    const spare = queue.takeSpare(1, signal);
    expect(await queue.take(signal)).toBe('a1');
    expect(await spare).toBe('b1');
  });

  test('stops waiting when its signal aborts, and at shutdown', async () => {
    const { queue, add, signal, stop } = createGroupedQueue();
    const spare = queue.takeSpare(1, signal);
    stop.abort();
    expect(await spare).toBeUndefined();
    const other = queue.takeSpare(1, new AbortController().signal);
    add('a1');
    await queue.shutDown();
    expect(await other).toBeUndefined();
  });
});

describe('signals', () => {
  test('an aborted signal gets no key, although keys wait', async () => {
    const { queue, stop } = createQueue();
    queue.add('a');
    stop.abort();
    expect(await queue.take(stop.signal)).toBeUndefined();
    expect(queue.length).toBe(1);
  });

  test('an abort ends the waits of its signal and no others', async () => {
    const { queue, stop, signal } = createQueue();
    const other = new AbortController();
    const mine = [queue.take(signal), queue.take(signal)];
    const theirs = queue.take(other.signal);
    stop.abort();
    expect(await Promise.all(mine)).toEqual([undefined, undefined]);
    queue.add('a');
    expect(await theirs).toBe('a');
  });

  test('a long-lived signal carries one listener while workers wait, none afterwards', async () => {
    const { queue, signal } = createQueue();
    const listeners = (): number => getEventListeners(signal, 'abort').length;
    for (let round = 0; round < 1000; round++) {
      const takes = [queue.take(signal), queue.take(signal), queue.take(signal)];
      if (listeners() !== 1) throw new Error(`${listeners()} listeners in round ${round}`);
      for (const key of ['a', 'b', 'c']) queue.add(key);
      for (const key of await Promise.all(takes)) queue.done(key ?? '');
    }
    expect(listeners()).toBe(0);
  });
});

describe('delays', () => {
  test('a delayed key is queued after its delay and does not count before', async () => {
    const { clock, queue, signal } = createQueue();
    queue.addAfter('a', 100);
    const take = queue.take(signal);
    await clock.advance(99);
    expect(queue.length).toBe(0);
    expect(await isPending(take)).toBe(true);
    await clock.advance(1);
    expect(await take).toBe('a');
  });

  for (const delayMs of [0, -5]) {
    test(`a delay of ${delayMs} adds the key at once`, async () => {
      const { queue, signal } = createQueue();
      queue.addAfter('a', delayMs);
      expect(await queue.take(signal)).toBe('a');
    });
  }

  test('a key whose delay ends while it is in progress is queued again', async () => {
    const { clock, queue, signal } = createQueue();
    queue.add('a');
    await queue.take(signal);
    queue.addAfter('a', 10);
    await clock.advance(10);
    expect(queue.length).toBe(0);
    queue.done('a');
    expect(await queue.take(signal)).toBe('a');
  });

  test('the delay of retries grows until forget', async () => {
    const { clock, queue, signal } = createQueue();
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      if (i === 3) queue.forget('a');
      queue.addRateLimited('a');
      waits.push(clock.nextTimerMs ?? 0);
      await clock.advance(1000);
      queue.done((await queue.take(signal)) ?? '');
    }
    expect(waits).toEqual([5, 10, 20, 5]);
    expect(queue.numRequeues('a')).toBe(1);
  });
});

describe('shutting down', () => {
  test('ends waits, ignores adds and delays, returns the remaining keys', async () => {
    const { clock, queue, signal } = createQueue();
    queue.add('a');
    queue.addAfter('late', 10);
    await queue.shutDown();
    queue.add('b');
    queue.addAfter('c', 10);
    queue.addRateLimited('d');
    await clock.advance(1000);
    expect(clock.pendingTimers).toBe(0);
    expect([await queue.take(signal), await queue.take(signal)]).toEqual(['a', undefined]);
  });

  test('ends the wait of idle workers', async () => {
    const { queue, signal } = createQueue();
    const takes = [queue.take(signal), queue.take(signal)];
    await queue.shutDown();
    expect(await Promise.all(takes)).toEqual([undefined, undefined]);
  });

  test('with drain, waits for the keys in progress', async () => {
    const { queue, signal } = createQueue();
    queue.add('a');
    queue.add('b');
    await queue.take(signal);
    await queue.take(signal);
    const drained = queue.shutDown({ drain: true });
    queue.done('a');
    expect(await isPending(drained)).toBe(true);
    queue.done('b');
    await drained;
  });

  test('with drain, resolves at once when no key is in progress', async () => {
    const { queue } = createQueue();
    await queue.shutDown({ drain: true });
    expect(queue.length).toBe(0);
  });

  test('a second shutdown without drain ends the wait of the first', async () => {
    const { queue, signal } = createQueue();
    queue.add('a');
    await queue.take(signal);
    const drained = queue.shutDown({ drain: true });
    expect(await isPending(drained)).toBe(true);
    await queue.shutDown();
    await drained;
  });
});

describe('metrics', () => {
  test('every series exists from the start at zero', async () => {
    const registry = createMetricsRegistry();
    createWorkQueue({ name: 'job', clock: new FakeClock(), metrics: registry });
    const families = parsePrometheusText(await registry.metrics());
    const values = [
      'depth',
      'adds_total',
      'queue_duration_seconds_count',
      'work_duration_seconds_count',
      'unfinished_work_seconds',
      'longest_running_processor_seconds',
      'retries_total',
    ].map((name) => sampleValue(families, `workqueue_${name}`, { name: 'job' }));
    expect(values).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  test('report the keys that wait, the keys in progress, and for how long', async () => {
    const registry = createMetricsRegistry();
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const queue = createWorkQueue<string>({ name: 'job', clock, metrics: registry });
    const read = async (name: string): Promise<number | undefined> =>
      sampleValue(parsePrometheusText(await registry.metrics()), `workqueue_${name}`, { name: 'job' });

    for (const key of ['a', 'b', 'c', 'a']) queue.add(key);
    expect(await read('adds_total')).toBe(3);
    expect(await read('depth')).toBe(3);
    await clock.advance(2000);
    await queue.take(signal);
    await clock.advance(1000);
    await queue.take(signal);
    await clock.advance(1000);
    expect(await read('depth')).toBe(1);
    expect(await read('queue_duration_seconds_sum')).toBe(5);
    expect(await read('unfinished_work_seconds')).toBe(3);
    expect(await read('longest_running_processor_seconds')).toBe(2);
    queue.addAfter('a', 5);
    queue.addRateLimited('b');
    expect(await read('retries_total')).toBe(2);
    queue.done('a');
    expect(await read('work_duration_seconds_sum')).toBe(2);
    expect(await read('unfinished_work_seconds')).toBe(1);
  });

  test('a second queue of the same name continues the counters', async () => {
    const registry = createMetricsRegistry();
    const clock = new FakeClock();
    for (const key of ['a', 'b']) createWorkQueue({ name: 'job', clock, metrics: registry }).add(key);
    const families = parsePrometheusText(await registry.metrics());
    expect(sampleValue(families, 'workqueue_adds_total', { name: 'job' })).toBe(2);
    expect(sampleValue(families, 'workqueue_depth', { name: 'job' })).toBe(1);
  });
});

describe('any sequence of adds, takes and dones', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    test(`loses no key, gives none to two workers, and keeps the order (seed ${seed})`, async () => {
      const { clock, queue, signal } = createQueue();
      const random = seededRandom(seed);
      const held = new Set<string>();
      /** The last time each key was added and was taken: the last take must not be before the last add. */
      const asked = new Map<string, number>();
      const taken = new Map<string, number>();
      let step = 0;
      let idle = 0;
      const work = async (): Promise<void> => {
        for (;;) {
          idle++;
          const key = await queue.take(signal);
          idle--;
          if (key === undefined) return;
          if (held.has(key)) throw new Error(`${key} was given to two workers`);
          held.add(key);
          taken.set(key, step);
          for (let pause = Math.floor(random() * 4); pause > 0; pause--) await clock.sleep(random() * 20, signal);
          held.delete(key);
          queue.done(key);
        }
      };
      const workers = [work(), work(), work(), work()];
      for (step = 1; step <= 5000; step++) {
        const key = `key-${Math.floor(random() * 30)}`;
        const how = random();
        if (how < 0.7) queue.add(key);
        else if (how < 0.9) queue.addAfter(key, random() * 30);
        else queue.addRateLimited(key);
        if (how > 0.95) queue.forget(key);
        asked.set(key, step);
        if (random() < 0.3) await clock.advance(random() * 10);
      }
      // By now the rate limiter's delays are minutes long. Advance past all of them.
      await clock.advance(2_000_000);
      for (const [key, askedAt] of asked) expect(taken.get(key)).toBeGreaterThanOrEqual(askedAt);
      expect({ held: held.size, idle, length: queue.length, timers: clock.pendingTimers }).toEqual({
        held: 0,
        idle: 4,
        length: 0,
        timers: 0,
      });
      await queue.shutDown({ drain: true });
      await Promise.all(workers);
    });
  }
});

describe('a delay that is not a finite number', () => {
  for (const delayMs of [Number.NaN, Infinity, -Infinity]) {
    test(`${delayMs} is refused with a reason, and the other keys are still queued`, async () => {
      const { clock, queue, signal } = createQueue();
      expect(() => queue.addAfter('broken', delayMs)).toThrow(expect.objectContaining({ reason: 'InvalidDelay' }));
      queue.addAfter('sound', 10);
      await clock.advance(10);
      expect(await queue.take(signal)).toBe('sound');
    });
  }

  test('is refused from a rate limiter too', () => {
    const rateLimiter = { nextDelayMs: () => Number.NaN, forget() {}, numRequeues: () => 0 };
    const queue = createWorkQueue<string>({ name: 'test', clock: new FakeClock(), rateLimiter });
    expect(() => queue.addRateLimited('broken')).toThrow(InvalidDelayError);
  });
});
