import { describe, expect, test } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { createWorkQueue } from '../../workqueue/index.ts';
import { Deployments } from '../api/index.ts';
import type { ReconcileOutcome } from '../controller/index.ts';
import { LaneCounters } from './lane.ts';
import { TracedStore } from './traced-store.ts';

function setUp(primary?: object) {
  const clock = new FakeClock();
  const queue = createWorkQueue<unknown>({ name: 'deployment', clock });
  const work = { name: 'deployment-controller', queue, primary };
  const lane = new LaneCounters(work);
  const count = (outcome: ReconcileOutcome, durationMs = 1): void =>
    lane.count({ work, key: 'a', outcome, durationMs }, clock.monotonic());
  return { clock, queue, lane, count, show: () => lane.show(clock.monotonic()) };
}

const signal = new AbortController().signal;

describe('a lane', () => {
  test('knows the resource of its keys if the workers have a cache of them', () => {
    const store = new TracedStore(Deployments, new FakeInformer(Deployments), () => false);
    expect(setUp(store).lane.resource).toBe('deployments.apps');
    expect(setUp().lane.resource).toBeUndefined();
    expect(setUp(new FakeInformer(Deployments)).lane.resource).toBeUndefined();
  });

  const outcomes = [
    { outcome: 'success', done: 1, conflicts: 0, failed: 0 },
    { outcome: 'requeue_after', done: 1, conflicts: 0, failed: 0 },
    { outcome: 'conflict', done: 0, conflicts: 1, failed: 0 },
    { outcome: 'error', done: 0, conflicts: 0, failed: 1 },
    { outcome: 'terminal_error', done: 0, conflicts: 0, failed: 1 },
  ] as const;
  for (const { outcome, ...expected } of outcomes) {
    test(`counts ${outcome}`, () => {
      const { count, show } = setUp();
      count(outcome);
      expect(show()).toMatchObject(expected);
    });
  }

  test('shows what its queue holds, as text', async () => {
    const { clock, queue, show } = setUp();
    queue.add('default/running');
    await queue.take(signal);
    queue.add('default/waiting');
    queue.add({ uid: 'u', namespace: 'shop' });
    queue.addAfter('default/delayed', 5000);
    await clock.advance(2000);
    expect(show()).toMatchObject({
      controller: 'deployment-controller',
      queue: 'deployment',
      added: 3,
      waiting: ['default/waiting', '{"uid":"u","namespace":"shop"}'],
      waitingCount: 2,
      delayed: [{ key: 'default/delayed', dueInMs: 3000, retries: 0 }],
      delayedCount: 1,
      running: [{ key: 'default/running', forMs: 2000 }],
    });
    await queue.shutDown();
  });

  test('shows twelve keys of a list, and counts all', async () => {
    const { queue, show } = setUp();
    for (let index = 0; index < 100; index++) {
      queue.add(`waiting-${index}`);
      queue.addAfter(`delayed-${index}`, 1000 + index);
    }
    const lane = show();
    expect([lane.waiting.length, lane.waitingCount, lane.delayed.length, lane.delayedCount]).toEqual([
      12, 100, 12, 100,
    ]);
    await queue.shutDown();
  });
});

describe('the charts', () => {
  test('have sixty samples of five seconds, empty at first', () => {
    const { depths, latenciesMs, sampleMs } = setUp().show();
    expect(depths).toEqual(Array.from({ length: 60 }, () => 0));
    expect(latenciesMs).toEqual(depths);
    expect(sampleMs).toBe(5000);
  });

  test('have the mean duration and the largest depth of a sample, the newest last', async () => {
    const { clock, queue, count, show } = setUp();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    count('success', 10);
    await queue.take(signal);
    count('error', 20.33);
    await clock.advance(5000);
    count('success', 4);
    const { depths, latenciesMs } = show();
    expect(depths.slice(-3)).toEqual([0, 3, 2]);
    expect(latenciesMs.slice(-3)).toEqual([0, 15.2, 4]);
  });

  test('move on while nothing happens, and forget after five minutes', async () => {
    const { clock, count, show } = setUp();
    count('success', 7);
    await clock.advance(10_000);
    expect(show().latenciesMs.slice(-3)).toEqual([7, 0, 0]);
    await clock.advance(285_000);
    expect(show().latenciesMs[0]).toBe(7);
    await clock.advance(5000);
    expect(show().latenciesMs).not.toContain(7);
  });

  test('are right after more samples than they show', async () => {
    const { clock, count, show } = setUp();
    for (let sample = 1; sample <= 100; sample++) {
      count('success', sample);
      if (sample < 100) await clock.advance(5000);
    }
    expect(show().latenciesMs).toEqual(Array.from({ length: 60 }, (_, index) => 41 + index));
  });
});
