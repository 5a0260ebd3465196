import { getEventListeners } from 'node:events';

import { describe, expect, test } from 'vitest';

import { objectKey, type ObjectKey } from '../api/index.ts';
import { ApiError } from '../client/index.ts';
import { createWorkQueue, type RateLimiter } from '../../workqueue/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { RecordingLogger, silentLogger } from '../../test/support/loggers.ts';
import type { KeyCare } from './key-care.ts';
import { RefusedError, TerminalError, type Reconcile } from './reconcile.ts';
import { GracefulStop } from './stopping.ts';
import { runAll, runWorkers, type Work } from './workers.ts';

const key = objectKey('default', 'one');
const synced = { waitForSync: async (): Promise<void> => {} };

interface Run {
  readonly clock: FakeClock;
  readonly stop: AbortController;
  readonly queue: Work['queue'];
  readonly outcomes: string[];
  readonly ended: Promise<void>;
}

function start(reconcile: Reconcile, rateLimiter?: RateLimiter<ObjectKey>, care: KeyCare = {}): Run {
  const clock = new FakeClock();
  const stop = new AbortController();
  const outcomes: string[] = [];
  const queue = createWorkQueue<ObjectKey>({ name: 'test', clock, rateLimiter });
  const context = {
    clock,
    logger: silentLogger,
    reconciles: { finished: ({ outcome }: { readonly outcome: string }): void => void outcomes.push(outcome) },
  };
  const work = { name: 'test', context, queue, reconcile, caches: [synced], workers: 2, ...care };
  const ended = runWorkers(work, stop.signal);
  return { clock, stop, queue, outcomes, ended };
}

async function until(condition: () => boolean, clock: FakeClock): Promise<void> {
  while (!condition()) await clock.advance(1);
}

describe('runWorkers', () => {
  test('says every minute that it still waits for its caches, until they are synced', async () => {
    const clock = new FakeClock();
    const logger = new RecordingLogger();
    const stop = new AbortController();
    const queue = createWorkQueue<ObjectKey>({ name: 'test', clock });
    const listed = Promise.withResolvers<void>();
    const context = { clock, logger, reconciles: { finished() {} } };
    const caches = [{ waitForSync: () => listed.promise }];
    const work = { name: 'test', context, queue, reconcile: async () => ({}), caches, workers: 1 };
    const ended = runWorkers(work, stop.signal);
    const reminders = (): number => logger.lines.filter(({ level }) => level === 'warn').length;
    await clock.advance(59_999);
    expect(reminders()).toBe(0);
    await clock.advance(60_001);
    expect(reminders()).toBe(2);
    listed.resolve();
    await clock.advance(180_000);
    expect(reminders()).toBe(2);
    stop.abort();
    await ended;
  });

  test('reconciles queued keys until it is stopped', async () => {
    const seen: string[] = [];
    const { queue, clock, stop, ended, outcomes } = start(async (item) => {
      seen.push(item);
      return {};
    });
    queue.add(key);
    await until(() => outcomes.length === 1, clock);
    stop.abort();
    await ended;
    expect(seen).toEqual([key]);
    expect(outcomes).toEqual(['success']);
  });

  test('a reconcile that asks for a delay which is no number is retried with back-off, and holds up no other key', async () => {
    const other = objectKey('default', 'other');
    const calls: string[] = [];
    const startedAtMs: number[] = [];
    const { queue, clock, stop, ended, outcomes } = start(async (item) => {
      calls.push(item);
      if (item !== key) return {};
      startedAtMs.push(clock.monotonic());
      return startedAtMs.length < 4 ? { requeueAfterMs: Number.NaN } : {};
    });
    queue.add(key);
    await until(() => outcomes.length === 1, clock);
    queue.addAfter(other, 1);
    await until(() => outcomes.length === 5, clock);
    stop.abort();
    await ended;
    expect(calls.filter((item) => item === other)).toEqual([other]);
    expect(outcomes.filter((outcome) => outcome === 'error')).toHaveLength(3);
    const gapsMs = startedAtMs.slice(1).map((atMs, index) => atMs - (startedAtMs[index] ?? 0));
    expect(gapsMs).toEqual([5, 10, 20]);
  });

  test('a rate limiter that gives no number costs neither the key nor the worker', async () => {
    const rateLimiter = { nextDelayMs: () => Number.NaN, forget() {}, numRequeues: () => 0 };
    let calls = 0;
    const { queue, clock, stop, ended, outcomes } = start(async () => {
      calls += 1;
      if (calls === 1) throw new Error('no luck');
      return {};
    }, rateLimiter);
    queue.add(key);
    await until(() => outcomes.length === 1, clock);
    await clock.advance(1_000_000);
    await until(() => outcomes.length === 2, clock);
    stop.abort();
    await ended;
    expect(outcomes).toEqual(['error', 'success']);
  });

  test('serves other namespaces while one holds all workers', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const done: string[] = [];
    const groupOf = (item: string): string => item.split('/')[0] ?? '';
    const queue = createWorkQueue<ObjectKey>({ name: 'test', clock, groupOf });
    const release = Promise.withResolvers<void>();
    const reconcile: Reconcile = async (item) => {
      if (item.startsWith('slow/')) await release.promise;
      done.push(item);
      return {};
    };
    const context = { clock, logger: silentLogger, reconciles: { finished: (): void => {} } };
    const ended = runWorkers({ name: 'test', context, queue, reconcile, caches: [synced], workers: 2 }, stop.signal);
    for (const name of ['1', '2', '3']) queue.add(objectKey('slow', name));
    for (const name of ['1', '2', '3']) queue.add(objectKey('quick', name));
    await until(() => done.length === 3, clock);
    expect(done).toEqual(['quick/1', 'quick/2', 'quick/3']);
    release.resolve();
    await until(() => done.length === 6, clock);
    stop.abort();
    await ended;
  });

  const conflict = new ApiError('update', { code: 409, reason: 'Conflict' });
  const retries = [
    { name: 'a failure', error: new Error('no luck'), outcome: 'error' },
    { name: 'a conflict', error: conflict, outcome: 'conflict' },
    { name: 'a refusal', error: new RefusedError('not yet'), outcome: 'error' },
  ];
  for (const { name, error, outcome } of retries) {
    test(`tries again after ${name}`, async () => {
      let calls = 0;
      const { queue, clock, stop, ended, outcomes } = start(async () => {
        calls += 1;
        if (calls < 3) throw error;
        return {};
      });
      queue.add(key);
      await until(() => outcomes.length === 3, clock);
      stop.abort();
      await ended;
      expect(outcomes).toEqual([outcome, outcome, 'success']);
      expect(queue.numRequeues(key)).toBe(0);
    });
  }

  test('does not try a terminal error again', async () => {
    const { queue, clock, stop, ended, outcomes } = start(async () => {
      throw new TerminalError('hopeless');
    });
    queue.add(key);
    await until(() => outcomes.length === 1, clock);
    await clock.advance(3_600_000);
    stop.abort();
    await ended;
    expect(outcomes).toEqual(['terminal_error']);
  });

  test('does not try an error again that was caused by a terminal one', async () => {
    const { queue, clock, stop, ended, outcomes } = start(async () => {
      throw new Error('sync the widget', { cause: new TerminalError('hopeless') });
    });
    queue.add(key);
    await until(() => outcomes.length === 1, clock);
    await clock.advance(3_600_000);
    stop.abort();
    await ended;
    expect(outcomes).toEqual(['terminal_error']);
  });

  const terminating = [
    { name: 'succeeds if its own namespace is terminating', item: key, namespace: 'default', outcome: 'success' },
    {
      name: 'succeeds if the namespace that it names is terminating',
      item: objectKey(undefined, 'default'),
      namespace: 'default',
      outcome: 'success',
    },
    { name: 'tries again if another namespace is terminating', item: key, namespace: 'other', outcome: 'error' },
    { name: 'tries again if the namespace is not known', item: key, namespace: undefined, outcome: 'error' },
  ];
  for (const { name, item, namespace, outcome } of terminating) {
    test(name, async () => {
      const details = { causes: [{ reason: 'NamespaceTerminating' }] };
      const refusal = new ApiError('create', { code: 403, reason: 'Forbidden', details }, { namespace });
      const { queue, clock, stop, ended, outcomes } = start(async () => {
        throw new Error('create the pod', { cause: refusal });
      });
      queue.add(item);
      await until(() => outcomes.length === 1, clock);
      expect(queue.numRequeues(item)).toBe(outcome === 'success' ? 0 : 1);
      stop.abort();
      await ended;
      expect(outcomes[0]).toBe(outcome);
    });
  }

  test('requeues when a reconcile asks for it', async () => {
    const times: number[] = [];
    const { queue, clock, stop, ended } = start(async () => {
      times.push(clock.monotonic());
      return times.length === 1 ? { requeueAfterMs: 5000 } : {};
    });
    queue.add(key);
    await until(() => times.length === 2, clock);
    stop.abort();
    await ended;
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(5000);
  });

  test('a key whose object is gone waits for nothing any more', async () => {
    const objects = new Set([key]);
    const forgotten: ObjectKey[] = [];
    const care: KeyCare = {
      primary: { get: (item) => (objects.has(item) ? item : undefined) },
      forget: (item) => void forgotten.push(item),
    };
    const reconcile = async () => (objects.has(key) ? { requeueAfterMs: 600_000 } : {});
    const { queue, clock, stop, ended, outcomes } = start(reconcile, undefined, care);
    queue.add(key);
    await until(() => outcomes.length === 1, clock);
    objects.clear();
    queue.add(key);
    await until(() => outcomes.length === 2, clock);
    expect(forgotten).toEqual([key]);
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(600_000);
    expect(outcomes).toEqual(['requeue_after', 'success']);
    stop.abort();
    await ended;
  });

  test('lets running work finish on a clean stop, and takes no more', async () => {
    let finish = (): void => {};
    const done: string[] = [];
    const { queue, clock, stop, ended } = start(async (item, signal) => {
      await new Promise<void>((resolve) => (finish = resolve));
      if (!signal.aborted) done.push(item);
      return {};
    });
    queue.add(key);
    await clock.advance(1);
    stop.abort(new GracefulStop(10_000));
    queue.add(objectKey('default', 'two'));
    await clock.advance(9999);
    finish();
    await ended;
    expect(done).toEqual([key]);
  });

  const abrupt = [
    { name: 'when its grace is over', reason: new GracefulStop(1000) },
    { name: 'at once when the lease is lost', reason: new Error('lease lost') },
  ];
  for (const { name, reason } of abrupt) {
    test(`aborts running work ${name}`, async () => {
      let aborted: unknown;
      const { queue, clock, stop, ended } = start(
        (_item, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted = signal.reason;
              reject(signal.reason as Error);
            });
          }),
      );
      queue.add(key);
      await clock.advance(1);
      stop.abort(reason);
      await clock.advance(1000);
      await ended;
      expect(aborted).toBe(reason);
    });
  }

  test('aborts running work at once when the lease is lost during a clean stop', async () => {
    let aborted: unknown;
    const { queue, clock, stop, ended } = start(
      (_item, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted = signal.reason;
            reject(signal.reason as Error);
          });
        }),
    );
    queue.add(key);
    await clock.advance(1);
    const leaseLost = new AbortController();
    stop.abort(new GracefulStop(60_000, leaseLost.signal));
    await clock.advance(1000);
    expect(aborted).toBeUndefined();
    const reason = new Error('lease lost');
    leaseLost.abort(reason);
    await ended;
    expect(aborted).toBe(reason);
    expect(clock.pendingTimers).toBe(0);
    expect(getEventListeners(leaseLost.signal, 'abort')).toEqual([]);
  });
});

describe('runAll', () => {
  test('stops the others when one fails, and throws its error', async () => {
    const ended: string[] = [];
    const waits = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ended.push('waiting loop');
          resolve();
        });
      });
    const failing = runAll([waits, async () => Promise.reject(new Error('broken'))], new AbortController().signal);
    await expect(failing).rejects.toThrow('broken');
    expect(ended).toEqual(['waiting loop']);
  });
});
