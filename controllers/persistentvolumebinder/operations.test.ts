import { beforeEach, expect, test } from 'vitest';

import { silentLogger } from '../../test/support/loggers.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { Operations } from './operations.ts';

let clock: FakeClock;
let operations: Operations;
let stop: AbortController;
let running: Promise<void>;
beforeEach(() => {
  clock = new FakeClock();
  operations = new Operations(clock, silentLogger);
  stop = new AbortController();
  running = operations.run(stop.signal);
  return async () => {
    stop.abort();
    await running;
  };
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('an operation runs once at a time', async () => {
  let starts = 0;
  const end = Promise.withResolvers<void>();
  const operation = (): Promise<void> => {
    starts++;
    return end.promise;
  };
  operations.start('a', operation);
  operations.start('a', operation);
  operations.start('b', operation);
  expect(starts).toBe(2);
  end.resolve();
  await settled();
  operations.start('a', operation);
  expect(starts).toBe(3);
});

test('after a failure, the next start waits, twice as long each time', async () => {
  let starts = 0;
  const fail = async (): Promise<void> => {
    starts++;
    throw new Error('no');
  };
  const startAfter = async (ms: number): Promise<number> => {
    await clock.advance(ms);
    operations.start('a', fail);
    await settled();
    return starts;
  };
  expect(await startAfter(0)).toBe(1);
  expect(await startAfter(500)).toBe(1);
  expect(await startAfter(1)).toBe(2);
  expect(await startAfter(1000)).toBe(2);
  expect(await startAfter(1)).toBe(3);
});

test('a success, and an object that is gone, end the wait', async () => {
  let starts = 0;
  const fail = async (): Promise<void> => {
    starts++;
    throw new Error('no');
  };
  operations.start('a', fail);
  await settled();
  operations.forget('a');
  operations.start('a', fail);
  expect(starts).toBe(2);
  await settled();
  await clock.advance(501);
  operations.start('a', async () => {});
  await settled();
  operations.start('a', fail);
  expect(starts).toBe(3);
});

test('a stop aborts operations and waits for them', async () => {
  let isAborted = false;
  operations.start('a', async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    isAborted = true;
  });
  stop.abort();
  await running;
  expect(isAborted).toBe(true);
  operations.start('b', () => Promise.reject(new Error('started')));
});
