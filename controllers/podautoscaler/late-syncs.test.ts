import { describe, expect, test } from 'vitest';

import { objectKey, type ObjectKey } from '../../pkg/api/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { LateSyncs } from './late-syncs.ts';
import { Places } from './places.ts';

const key = objectKey('default', 'web');
const { signal } = new AbortController();

function start() {
  const clock = new FakeClock();
  const calls: {
    readonly key: ObjectKey;
    resolve(): void;
    reject(error: Error): void;
    readonly signal: AbortSignal;
  }[] = [];
  const sync = async (given: ObjectKey, ownSignal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    calls.push({ key: given, resolve, reject, signal: ownSignal });
    ownSignal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    await promise;
    return { requeueAfterMs: 7 };
  };
  return { clock, calls, syncs: new LateSyncs(sync, { clock, periodMs: 15_000 }) };
}

describe('LateSyncs', () => {
  test('a sync that ends in time is that of the worker', async () => {
    const { calls, syncs } = start();
    const worker = syncs.reconcile(key, signal);
    calls[0]?.resolve();
    expect(await worker).toEqual({ requeueAfterMs: 7 });
    const failing = syncs.reconcile(key, signal);
    calls[1]?.reject(new Error('broken'));
    await expect(failing).rejects.toThrow('broken');
  });

  test('a slow sync goes on without its worker, and is not started twice', async () => {
    const { clock, calls, syncs } = start();
    const worker = syncs.reconcile(key, signal);
    await clock.advance(2000);
    expect(await worker).toEqual({ requeueAfterMs: 15_000 });
    expect(await syncs.reconcile(key, signal)).toEqual({ requeueAfterMs: 15_000 });
    expect(calls).toHaveLength(1);
    calls[0]?.resolve();
    await clock.advance(0);
    const next = syncs.reconcile(key, signal);
    expect(calls).toHaveLength(2);
    calls[1]?.resolve();
    await next;
  });

  test('the more syncs are late, the sooner a worker is free again', async () => {
    const { clock, calls, syncs } = start();
    const keys = Array.from({ length: 1000 }, (_, index) => objectKey('default', `slow-${index}`));
    const startMs = clock.monotonic();
    for (const each of keys) {
      const worker = syncs.reconcile(each, signal);
      await clock.advance(2000 / (1 + calls.length - 1));
      await worker;
    }
    expect(clock.monotonic() - startMs).toBeLessThan(16_000); // of one worker; a second for each would take half an hour
    for (const call of calls) call.resolve();
    await clock.advance(0);
    const quick = syncs.reconcile(key, signal);
    await clock.advance(1999); // nothing is late any more
    calls.at(-1)?.resolve();
    expect(await quick).toEqual({ requeueAfterMs: 7 });
  });

  test('the error of a slow sync is reported by the next reconcile', async () => {
    const { clock, calls, syncs } = start();
    const worker = syncs.reconcile(key, signal);
    await clock.advance(2000);
    await worker;
    calls[0]?.reject(new Error('gateway timeout'));
    await clock.advance(0);
    await expect(syncs.reconcile(key, signal)).rejects.toThrow('gateway timeout');
    expect(calls).toHaveLength(1);
  });

  test('a deleted object ends its sync, and a stop ends all of them', async () => {
    const { clock, calls, syncs } = start();
    const other = objectKey('default', 'other');
    const workers = [syncs.reconcile(key, signal), syncs.reconcile(other, signal)];
    await clock.advance(2000);
    await Promise.all(workers);
    syncs.forget(key);
    expect(calls.map((call) => call.signal.aborted)).toEqual([true, false]);
    await syncs.stop();
    expect(calls.map((call) => call.signal.aborted)).toEqual([true, true]);
  });
});

describe('Places', () => {
  test('limits what runs at the same time, in order', async () => {
    const places = new Places(1);
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    const running = [
      places.run(() => first.promise.then(() => order.push('first')), signal),
      places.run(async () => order.push('second'), signal),
    ];
    await Promise.resolve();
    expect(order).toEqual([]);
    first.resolve();
    await Promise.all(running);
    expect(order).toEqual(['first', 'second']);
  });

  test('passes a place on after an error or an abort', async () => {
    const places = new Places(1);
    const stop = new AbortController();
    const failing = places.run(() => Promise.reject(new Error('broken')), signal);
    const aborted = places.run(async () => 'never', stop.signal);
    const last = places.run(async () => 'last', signal);
    stop.abort(new Error('stopped'));
    await expect(failing).rejects.toThrow('broken');
    await expect(aborted).rejects.toThrow('stopped');
    expect(await last).toBe('last');
  });
});
