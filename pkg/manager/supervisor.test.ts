import { describe, expect, test } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { RecordingLogger } from '../../test/support/loggers.ts';
import { Supervisor, type ControllerLife } from './supervisor.ts';

/** A controller with scripted runs: each entry is one call of `run`. */
function scripted(...lives: ((signal: AbortSignal) => Promise<void>)[]) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const running: boolean[] = [];
  let built = 0;
  let discarded = 0;
  const build = (): ControllerLife => {
    const run = lives[built];
    built += 1;
    if (run === undefined) throw new Error('cannot be built');
    return { controller: { name: 'test-controller', run }, discard: () => (discarded += 1) };
  };
  const supervisor = new Supervisor({
    name: 'test-controller',
    first: build(),
    rebuild: build,
    clock,
    logger,
    random: () => 0,
    onRunning: (now) => running.push(now),
  });
  return { supervisor, clock, logger, running, counts: () => ({ built, discarded }) };
}

const crash = async (): Promise<void> => {
  throw new Error('out of luck');
};
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

describe('Supervisor', () => {
  test('restarts a crashed controller with growing back-off', async () => {
    const { supervisor, clock, counts } = scripted(crash, crash, untilAborted);
    const stop = new AbortController();
    const done = supervisor.run(stop.signal);
    await clock.advance(999);
    expect(counts().built).toBe(1);
    await clock.advance(1);
    expect(counts().built).toBe(2);
    await clock.advance(1999);
    expect(counts().built).toBe(2);
    await clock.advance(1);
    expect(counts()).toEqual({ built: 3, discarded: 2 });
    stop.abort();
    await done;
    expect(clock.pendingTimers).toBe(0);
  });

  test('reports the problem until the controller runs again', async () => {
    const { supervisor, clock, running, logger } = scripted(crash, untilAborted);
    const stop = new AbortController();
    const done = supervisor.run(stop.signal);
    await clock.advance(1);
    expect(supervisor.problem).toBe('crashed: out of luck');
    expect(logger.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { message: 'controller crashed', fields: { controller: 'test-controller' } },
    ]);
    await clock.advance(1000);
    expect(supervisor.problem).toBeUndefined();
    expect(running).toEqual([true, false, true]);
    stop.abort();
    await done;
  });

  test('keeps retrying if the controller cannot be created again', async () => {
    const { supervisor, clock, counts } = scripted(crash);
    const stop = new AbortController();
    const done = supervisor.run(stop.signal);
    await clock.advance(3000);
    expect(counts().built).toBe(3);
    expect(supervisor.problem).toBe('crashed: cannot be built');
    stop.abort();
    await done;
    expect(supervisor.active).toBe(false);
  });

  test('a controller that returns is done, not crashed', async () => {
    const { supervisor, clock } = scripted(async () => {});
    await supervisor.run(new AbortController().signal);
    expect(supervisor.problem).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });

  test('an error after the abort is not a crash', async () => {
    const { supervisor, logger } = scripted(async (signal) => {
      await untilAborted(signal);
      throw new Error('interrupted');
    });
    const stop = new AbortController();
    const done = supervisor.run(stop.signal);
    stop.abort();
    await done;
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
