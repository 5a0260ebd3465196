import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../pkg/api/index.ts';
import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { RecordingLogger } from '../test/support/loggers.ts';
import type { Change } from './store-updates.ts';
import type { Handler } from './informer.ts';
import { Processor } from './processor.ts';
import { Turns } from '../pkg/time/index.ts';

function configMap(name: string): ConfigMap {
  return { metadata: { namespace: 'ns', name, uid: name, resourceVersion: '1', creationTimestamp: '' } };
}
const add = (name: string, initial = false): Change<ConfigMap> => ({ type: 'added', object: configMap(name), initial });

/** Time that passes within a synchronous call. */
class ElapsingClock extends FakeClock {
  elapsedMs = 0;
  override monotonic(): number {
    return super.monotonic() + this.elapsedMs;
  }
}

function setUp(cache: ConfigMap[] = []) {
  const clock = new ElapsingClock();
  const logger = new RecordingLogger();
  const processor = new Processor<ConfigMap>(() => cache, { turns: new Turns(clock), clock, logger });
  return { clock, logger, processor };
}

function recorder(): { events: string[]; handler: Handler<ConfigMap> } {
  const events: string[] = [];
  return {
    events,
    handler: {
      added: (object, initial) => events.push(`added ${object.metadata.name}${initial ? ' initially' : ''}`),
      updated: (before, after) => events.push(`updated ${after.metadata.name}${before === after ? ' again' : ''}`),
      deleted: (last, missed) => events.push(`deleted ${last.metadata.name}${missed ? ' unseen' : ''}`),
    },
  };
}

describe('a processor', () => {
  test('delivers the current cache to a late handler first, then later changes', async () => {
    const { processor } = setUp([configMap('a'), configMap('b')]);
    processor.markSynced();
    const { events, handler } = recorder();
    const registration = processor.add(handler, 0);
    processor.distribute(add('c'));
    expect(registration.hasSynced).toBe(false);
    await registration.waitForSync(AbortSignal.any([]));
    await settle();
    expect(events).toEqual(['added a initially', 'added b initially', 'added c']);
    expect(registration.hasSynced).toBe(true);
  });

  test('a handler has synced only when it has been given the whole initial list', async () => {
    const { processor } = setUp();
    const { events, handler } = recorder();
    const registration = processor.add(handler, 0);
    processor.distribute(add('a', true));
    await settle();
    expect(events).toEqual(['added a initially']);
    expect(registration.hasSynced).toBe(false);
    processor.markSynced();
    await settle();
    expect(registration.hasSynced).toBe(true);
  });

  test('what one handler throws is logged and keeps neither it nor another from the next event', async () => {
    const { processor, logger } = setUp();
    const calm = recorder();
    const told: string[] = [];
    processor.add(
      {
        added(object) {
          told.push(object.metadata.name);
          throw new Error('boom');
        },
      },
      0,
    );
    processor.add(calm.handler, 0);
    processor.distribute(add('a'));
    processor.distribute(add('b'));
    await settle();
    expect(told).toEqual(['a', 'b']);
    expect(calm.events).toEqual(['added a', 'added b']);
    expect(logger.lines).toMatchObject([
      { level: 'error', message: 'event handler failed' },
      { level: 'error', message: 'event handler failed' },
    ]);
  });

  test('a removed handler gets no more events, not even buffered ones, also when it removes itself', async () => {
    const { processor } = setUp();
    const buffered = recorder();
    const told: string[] = [];
    const registration = processor.add(buffered.handler, 0);
    const own = processor.add(
      {
        added(object) {
          told.push(object.metadata.name);
          own.remove();
        },
      },
      0,
    );
    processor.distribute(add('a'));
    processor.distribute(add('b'));
    registration.remove();
    await settle();
    expect(buffered.events).toEqual([]);
    expect(told).toEqual(['a']);
    expect(processor.size).toBe(0);
  });

  test('a handler that takes long delays its own events only', async () => {
    const { processor, clock } = setUp();
    const quick = recorder();
    const slow: number[] = [];
    processor.add(
      {
        added() {
          slow.push(quick.events.length);
          clock.elapsedMs += 50;
        },
      },
      0,
    );
    processor.add(quick.handler, 0);
    for (let n = 0; n < 100; n++) processor.distribute(add(`o${n}`));
    await settle();
    await settle();
    expect(slow.length).toBeLessThan(4);
    expect(quick.events.length).toBe(100);
  });

  test('resyncs replay the cache to those who asked, once per period, with one timer for all of the same period', async () => {
    const { processor, clock } = setUp([configMap('a')]);
    const [often, oftenToo, never] = [recorder(), recorder(), recorder()];
    const registrations = [processor.add(often.handler, 1000), processor.add(oftenToo.handler, 1000)];
    processor.add(never.handler, 0);
    processor.start();
    processor.markSynced();
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(2500);
    expect(often.events).toEqual(['added a initially', 'updated a again', 'updated a again']);
    expect(oftenToo.events).toEqual(often.events);
    expect(never.events).toEqual(['added a initially']);
    for (const registration of registrations) registration.remove();
    expect(clock.pendingTimers).toBe(0);
  });

  test('nothing is left after a stop', async () => {
    const { processor, clock } = setUp([configMap('a')]);
    const { events, handler } = recorder();
    processor.add(handler, 1000);
    processor.start();
    processor.stop();
    await settle();
    expect(events).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});
