import { describe, expect, test } from 'vitest';
import { ConfigMaps, keyOf, objectKey } from '../pkg/api/index.ts';
import type { ConfigMap } from '../pkg/api/index.ts';
import type { WatchEvent } from '../pkg/client/index.ts';
import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { RecordingLogger } from '../test/support/loggers.ts';
import {
  connectionError,
  expiredError,
  refusedError,
  ScriptedClient,
  tooLargeError,
  unavailableError,
} from '../test/support/scripted-client.ts';
import { createInformer } from './factory.ts';
import type { InformerSettings } from './shared-informer.ts';

function configMap(name: string, resourceVersion: string, uid = name): ConfigMap {
  return { metadata: { namespace: 'ns', name, uid, resourceVersion, creationTimestamp: '' } };
}
const added = (object: ConfigMap): WatchEvent<ConfigMap> => ({ type: 'ADDED', object });
const modified = (object: ConfigMap): WatchEvent<ConfigMap> => ({ type: 'MODIFIED', object });
const deleted = (object: ConfigMap): WatchEvent<ConfigMap> => ({ type: 'DELETED', object });
const bookmark = (resourceVersion: string): WatchEvent<ConfigMap> => ({
  type: 'BOOKMARK',
  resourceVersion,
  initialEventsEnd: false,
});
const end = (resourceVersion: string): WatchEvent<ConfigMap> => ({
  type: 'BOOKMARK',
  resourceVersion,
  initialEventsEnd: true,
});

function setUp(settings: InformerSettings<ConfigMap> = {}) {
  const client = new ScriptedClient();
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const informer = createInformer(ConfigMaps, { client, clock, logger, random: () => 0 }, settings);
  const events: string[] = [];
  informer.addHandler({
    added: (object, initial) =>
      events.push(`added ${object.metadata.name}@${object.metadata.resourceVersion}${initial ? ' initially' : ''}`),
    updated: (before, after) =>
      events.push(
        `updated ${after.metadata.name}@${before.metadata.resourceVersion}-${after.metadata.resourceVersion}`,
      ),
    deleted: (last, missed) =>
      events.push(`deleted ${last.metadata.name}@${last.metadata.resourceVersion}${missed ? ' unseen' : ''}`),
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  const takeEvents = async (): Promise<string[]> => {
    for (let turn = 0; turn < 4; turn++) await settle();
    return events.splice(0);
  };
  const finish = async (): Promise<void> => {
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  };
  return { client, clock, logger, informer, takeEvents, finish, stop };
}

/** An informer whose watch has brought `a` and `b`, and stands at version 5. */
async function setUpSynced() {
  const context = setUp();
  const watch = await context.client.nextWatch();
  watch.send(added(configMap('a', '3')), added(configMap('b', '2')), end('5'));
  await context.takeEvents();
  return { ...context, watch };
}

describe('an informer', () => {
  test('asks for the initial state as the beginning of a watch, and has synced at the bookmark behind it', async () => {
    const { client, informer, takeEvents, finish } = setUp();
    const watch = await client.nextWatch();
    expect(watch.options).toMatchObject({
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
      timeoutSeconds: 300,
      idleTimeoutMs: 150_000,
    });
    watch.send(added(configMap('a', '3')));
    expect(await takeEvents()).toEqual([]);
    expect(informer.hasSynced).toBe(false);
    watch.send(added(configMap('b', '2')), end('5'), added(configMap('c', '6')));
    expect(await takeEvents()).toEqual(['added a@3 initially', 'added b@2 initially', 'added c@6']);
    expect(informer.hasSynced).toBe(true);
    expect(informer.store.hasSeen('6')).toBe(true);
    await finish();
    expect(watch.left).toBe(true);
  });

  test('has observed a version only when the store has it', async () => {
    const { informer, watch, takeEvents, finish } = await setUpSynced();
    expect(informer.store.hasSeen('5')).toBe(true);
    watch.send(modified(configMap('a', '7')));
    expect(informer.store.hasSeen('7')).toBe(false);
    const seen = informer.store.waitUntilSeen('7', AbortSignal.any([]));
    await seen;
    expect(informer.store.get(objectKey('ns', 'a'))?.metadata.resourceVersion).toBe('7');
    watch.send(bookmark('12'));
    await takeEvents();
    expect(informer.store.hasSeen('12')).toBe(true);
    await finish();
  });

  test('delivers updates with both states and deletes with the last one', async () => {
    const { informer, watch, takeEvents, finish } = await setUpSynced();
    watch.send(modified(configMap('a', '6')), deleted(configMap('b', '7')), deleted(configMap('unknown', '8')));
    expect(await takeEvents()).toEqual(['updated a@3-6', 'deleted b@7']);
    expect(informer.store.list().map(keyOf)).toEqual(['ns/a']);
    await finish();
  });

  test('delivers nothing when an event repeats a known state', async () => {
    const { watch, takeEvents, finish } = await setUpSynced();
    watch.send(added(configMap('a', '3')), modified(configMap('a', '3')));
    expect(await takeEvents()).toEqual([]);
    await finish();
  });

  test('resumes from the last version, also that of a bookmark, when the server ends the watch', async () => {
    const { client, clock, watch, takeEvents, finish } = await setUpSynced();
    watch.send(bookmark('9'));
    await clock.advance(300_000);
    watch.close();
    const next = await client.nextWatch();
    expect(next.options.resourceVersion).toBe('9');
    expect(next.options.sendInitialEvents).toBeUndefined();
    next.send(modified(configMap('a', '11')));
    expect(await takeEvents()).toEqual(['updated a@3-11']);
    await finish();
  });

  test('resumes from the last version after a lost connection and a delay', async () => {
    const { client, clock, watch, takeEvents, finish } = await setUpSynced();
    watch.send(modified(configMap('a', '6')));
    watch.fail(connectionError());
    await takeEvents();
    expect(client.unanswered).toBe(0);
    expect(clock.nextTimerMs).toBe(800);
    await clock.advance(800);
    expect((await client.nextWatch()).options.resourceVersion).toBe('6');
    await finish();
  });

  test('names the resource of a failed watch once in the log line', async () => {
    const { logger, watch, takeEvents, finish } = await setUpSynced();
    watch.fail(connectionError());
    await takeEvents();
    const line = logger.lines.find(({ message }) => message === 'list or watch failed');
    expect(line).toMatchObject({ fields: { resource: 'configmaps' }, repeated: [] });
    await finish();
  });

  test('lists again when the version has expired, and finds out what was missed', async () => {
    const { client, watch, takeEvents, finish, informer } = await setUpSynced();
    watch.fail(expiredError());
    const next = await client.nextWatch();
    expect(next.options.sendInitialEvents).toBe(true);
    next.send(added(configMap('a', '3')), added(configMap('c', '20')));
    expect(await takeEvents()).toEqual([]);
    expect(informer.store.size).toBe(2); // the old state stands until the new one is complete
    next.send(end('21'));
    expect(await takeEvents()).toEqual(['deleted b@2 unseen', 'added c@20']);
    await finish();
  });

  test('delivers a recreated object as two objects', async () => {
    const { client, watch, takeEvents, finish } = await setUpSynced();
    watch.fail(expiredError());
    const next = await client.nextWatch();
    next.send(added(configMap('a', '9', 'another')), added(configMap('b', '2')), end('21'));
    expect(await takeEvents()).toEqual(['deleted a@3 unseen', 'added a@9']);
    await finish();
  });

  test('believes a server that has been restored from a backup, and counts from an earlier version again', async () => {
    const { client, clock, watch, informer, takeEvents, finish } = await setUpSynced();
    watch.fail(tooLargeError());
    await takeEvents();
    await clock.advance(800);
    const next = await client.nextWatch();
    expect(next.options.resourceVersion).toBeUndefined();
    next.send(added(configMap('a', '1')), end('2'));
    expect(await takeEvents()).toEqual(['deleted b@2 unseen', 'updated a@3-1']);
    expect(informer.store.hasSeen('5')).toBe(false);
    await finish();
  });

  test('asks a server that refuses streamed lists for pages, and does not try it again', async () => {
    const { client, clock, takeEvents, finish } = setUp({ labelSelector: 'app=web' });
    (await client.nextWatch()).fail(refusedError());
    const first = await client.nextList();
    expect(first.options).toMatchObject({ limit: 500, labelSelector: 'app=web' });
    first.answer({ metadata: { resourceVersion: '5', continue: 'more' }, items: [configMap('a', '3')] });
    const second = await client.nextList();
    expect(second.options.continue).toBe('more');
    second.answer({ metadata: { resourceVersion: '5' }, items: [configMap('b', '2')] });
    const watch = await client.nextWatch();
    expect(watch.options).toMatchObject({ resourceVersion: '5', labelSelector: 'app=web' });
    expect(await takeEvents()).toEqual(['added a@3 initially', 'added b@2 initially']);
    watch.fail(expiredError());
    await takeEvents();
    await clock.advance(10_000);
    expect((await client.nextList()).options.continue).toBeUndefined();
    await finish();
  });

  test('takes a list in one piece when its pages expire', async () => {
    const { client, clock, takeEvents, finish } = setUp();
    (await client.nextWatch()).fail(refusedError());
    (await client.nextList()).answer({
      metadata: { resourceVersion: '5', continue: 'more' },
      items: [configMap('a', '3')],
    });
    (await client.nextList()).fail(expiredError());
    await takeEvents();
    await clock.advance(1600);
    const whole = await client.nextList();
    expect(whole.options.limit).toBeUndefined();
    whole.answer({ metadata: { resourceVersion: '9' }, items: [configMap('b', '8')] });
    await client.nextWatch();
    expect(await takeEvents()).toEqual(['added b@8 initially']);
    await finish();
  });

  test('throws away a streamed list that was not completed', async () => {
    const { client, clock, takeEvents, finish } = setUp();
    const first = await client.nextWatch();
    first.send(added(configMap('ghost', '3')));
    first.fail(unavailableError());
    await takeEvents();
    await clock.advance(800);
    const second = await client.nextWatch();
    second.send(added(configMap('a', '4')), end('5'));
    expect(await takeEvents()).toEqual(['added a@4 initially']);
    await finish();
  });

  test('never asks in a tight loop, even if every watch is closed at once', async () => {
    const { client, clock, watch, finish } = await setUpSynced();
    watch.close();
    let watches = 0;
    for (const startMs = clock.monotonic(); clock.monotonic() - startMs < 600_000; await clock.advance(100)) {
      while (client.unanswered > 0) {
        (await client.nextWatch()).close();
        watches++;
      }
    }
    expect(watches).toBeGreaterThan(10);
    expect(watches).toBeLessThan(40);
    await finish();
  });

  test('keeps what a transform makes of an object, and the object itself where it throws', async () => {
    const { client, informer, logger, takeEvents, finish } = setUp({
      transform(object) {
        if (object.metadata.name === 'odd') throw new Error('boom');
        return { ...object, data: { trimmed: 'yes' } };
      },
    });
    (await client.nextWatch()).send(added(configMap('a', '3')), added(configMap('odd', '4')), end('5'));
    await takeEvents();
    expect(informer.store.get(objectKey('ns', 'a'))?.data).toEqual({ trimmed: 'yes' });
    expect(informer.store.get(objectKey('ns', 'odd'))?.data).toBeUndefined();
    expect(logger.lines.map(({ message }) => message)).toContain('transform failed');
    await finish();
  });

  test('ends at once when its signal aborts during a delay, and runs but once', async () => {
    const { client, clock, informer, takeEvents, finish } = setUp();
    (await client.nextWatch()).fail(connectionError());
    await takeEvents();
    expect(clock.pendingTimers).toBe(1);
    await finish();
    await expect(informer.run(AbortSignal.any([]))).rejects.toThrow('already been started');
  });
});
