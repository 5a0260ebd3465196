import { describe, expect, test } from 'vitest';

import { FakeClock } from '../test/support/fake-clock.ts';
import { createWorkQueue } from './queue.ts';

const { signal } = new AbortController();

function createQueue() {
  const clock = new FakeClock();
  return { clock, queue: createWorkQueue<string>({ name: 'test', clock }) };
}

describe('inspect', () => {
  test('an empty queue holds nothing', () => {
    expect(createQueue().queue.inspect(10)).toEqual({
      name: 'test',
      added: 0,
      waiting: [],
      waitingCount: 0,
      delayed: [],
      delayedCount: 0,
      running: [],
    });
  });

  test('tells which keys wait, which are delayed and which run, and for how long', async () => {
    const { clock, queue } = createQueue();
    for (const key of ['a', 'b', 'c', 'c']) queue.add(key);
    await queue.take(signal);
    queue.addAfter('late', 60_000);
    queue.addAfter('soon', 5000);
    await clock.advance(1000);
    expect(queue.inspect(10)).toEqual({
      name: 'test',
      added: 3,
      waiting: ['b', 'c'],
      waitingCount: 2,
      delayed: [
        { key: 'soon', dueInMs: 4000, retries: 0 },
        { key: 'late', dueInMs: 59_000, retries: 0 },
      ],
      delayedCount: 2,
      running: [{ key: 'a', forMs: 1000 }],
    });
    await queue.shutDown();
  });

  test('tells how often a delayed key has failed', async () => {
    const { clock, queue } = createQueue();
    for (let failure = 0; failure < 3; failure++) {
      queue.addRateLimited('a');
      if (failure < 2) await clock.advance(1000);
    }
    expect(queue.inspect(10).delayed).toMatchObject([{ key: 'a', retries: 3 }]);
    queue.forget('a');
    expect(queue.inspect(10).delayed).toMatchObject([{ key: 'a', retries: 0 }]);
    await queue.shutDown();
  });

  test('tells a key that was added while it runs as waiting, too', async () => {
    const { queue } = createQueue();
    queue.add('a');
    await queue.take(signal);
    queue.add('a');
    expect(queue.inspect(10)).toMatchObject({ added: 2, waiting: ['a'], waitingCount: 1, running: [{ key: 'a' }] });
  });

  test('tells no more keys than asked for, the next one among them, and counts all', async () => {
    const { queue } = createQueue();
    for (let index = 0; index < 100; index++) {
      queue.add(`waiting-${index}`);
      queue.addAfter(`delayed-${index}`, 100_000 - index);
    }
    const { waiting, waitingCount, delayed, delayedCount } = queue.inspect(3);
    expect(waiting).toEqual(['waiting-0', 'waiting-1', 'waiting-2']);
    expect([waitingCount, delayedCount, delayed.length]).toEqual([100, 100, 3]);
    expect(delayed[0]?.key).toBe('delayed-99');
    expect(queue.inspect(0)).toMatchObject({ waiting: [], delayed: [], running: [], waitingCount: 100 });
    await queue.shutDown();
  });

  test('changes nothing', async () => {
    const { clock, queue } = createQueue();
    queue.addAfter('b', 1000);
    queue.addAfter('a', 500);
    queue.inspect(10);
    queue.find('a');
    await clock.advance(1000);
    expect([await queue.take(signal), await queue.take(signal), queue.length]).toEqual(['a', 'b', 0]);
  });
});

describe('find', () => {
  test('follows a key through the queue', async () => {
    const { clock, queue } = createQueue();
    expect(queue.find('a')).toBeUndefined();
    queue.addAfter('a', 5000);
    await clock.advance(2000);
    expect(queue.find('a')).toEqual({ state: 'delayed', ms: 3000, retries: 0 });
    await clock.advance(3000);
    expect(queue.find('a')).toEqual({ state: 'waiting', ms: 0, retries: 0 });
    await queue.take(signal);
    await clock.advance(700);
    expect(queue.find('a')).toEqual({ state: 'running', ms: 700, retries: 0 });
    queue.done('a');
    expect(queue.find('a')).toBeUndefined();
  });

  test('tells a key that runs and is due again as running', async () => {
    const { queue } = createQueue();
    queue.add('a');
    await queue.take(signal);
    queue.add('a');
    expect(queue.find('a')).toMatchObject({ state: 'running' });
    queue.done('a');
    expect(queue.find('a')).toMatchObject({ state: 'waiting' });
  });

  test('tells how often the key has failed, and forgets a delay that was cancelled', async () => {
    const { queue } = createQueue();
    queue.addRateLimited('a');
    queue.addRateLimited('a');
    expect(queue.find('a')).toMatchObject({ state: 'delayed', retries: 2 });
    queue.cancelDelay('a');
    expect(queue.find('a')).toBeUndefined();
    await queue.shutDown();
  });
});
