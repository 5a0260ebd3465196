import { describe, expect, test } from 'vitest';
import { ConfigMaps, metadataOf, Nodes, Pods } from '../pkg/api/index.ts';
import type { KubeObject } from '../pkg/api/index.ts';
import { createMetricsRegistry } from '../pkg/metrics/index.ts';
import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { silentLogger } from '../test/support/loggers.ts';
import { ScriptedClient } from '../test/support/scripted-client.ts';
import type { ScriptedWatch } from '../test/support/scripted-client.ts';
import { createSharedInformerFactory, settingsFor } from './factory.ts';
import type { SharedInformerFactoryOptions } from './factory.ts';
import { createInformerMetrics } from './metrics.ts';

function setUp(options: Partial<SharedInformerFactoryOptions> = {}) {
  const client = new ScriptedClient();
  const clock = new FakeClock();
  const factory = createSharedInformerFactory({ client, clock, logger: silentLogger, random: () => 0, ...options });
  return { client, clock, factory, stop: new AbortController() };
}

function complete(watch: ScriptedWatch, ...names: string[]): void {
  const object = (name: string): KubeObject => ({
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '' },
  });
  watch.send(...names.map((name) => ({ type: 'ADDED' as const, object: object(name) })), {
    type: 'BOOKMARK',
    resourceVersion: '5',
    initialEventsEnd: true,
  });
}

describe('a factory', () => {
  test('gives everyone the same informer of a kind, and another of its metadata alone', () => {
    const { factory } = setUp();
    expect(factory.informerFor(Pods)).toBe(factory.informerFor(Pods));
    expect(factory.informerFor(metadataOf(Pods))).not.toBe(factory.informerFor(Pods));
    expect(factory.informerFor(metadataOf(Pods))).toBe(factory.informerFor(metadataOf(Pods)));
  });

  test('gives a selection of a kind an informer of its own, which asks the server for no more', async () => {
    const { client, factory, stop } = setUp();
    const selection = { fieldSelector: 'metadata.name=x' };
    expect(factory.informerFor(ConfigMaps, selection)).toBe(factory.informerFor(ConfigMaps, { ...selection }));
    factory.start(stop.signal);
    expect((await client.nextWatch()).options).toMatchObject(selection);
    expect(factory.informerFor(ConfigMaps)).not.toBe(factory.informerFor(ConfigMaps, selection));
    expect((await client.nextWatch()).options.fieldSelector).toBeUndefined();
    await factory.shutdown();
  });

  test('finds the informer of a whole kind that is in use, but not that of a part', () => {
    const { factory } = setUp();
    expect(factory.find(Pods)).toBeUndefined();
    factory.informerFor(metadataOf(Pods));
    factory.informerFor(Pods, { fieldSelector: 'spec.nodeName=x' });
    expect(factory.find(Pods)).toBeUndefined();
    const pods = factory.informerFor(Pods);
    expect(factory.find(Pods)).toBe(pods);
    const scoped = setUp({ namespace: 'default' }).factory;
    scoped.informerFor(Pods);
    expect(scoped.find(Pods)).toBeUndefined();
  });

  test('starts existing informers on start, once, and later ones at once', async () => {
    const { client, factory, stop } = setUp();
    factory.informerFor(Pods);
    await settle();
    expect(client.unanswered).toBe(0);
    factory.start(stop.signal);
    factory.start(stop.signal);
    await settle();
    expect(client.unanswered).toBe(1);
    factory.informerFor(Nodes);
    await settle();
    expect(client.unanswered).toBe(2);
    await factory.shutdown();
  });

  test('refuses a wait that would have no end, and a handler that would never be called', async () => {
    const { client, factory, stop } = setUp();
    const pods = factory.informerFor(Pods);
    await expect(factory.waitForCacheSync(stop.signal)).rejects.toThrow('the informers are not started');
    factory.start(stop.signal);
    await client.nextWatch();
    await factory.release(Pods);
    expect(() => pods.addHandler({})).toThrow(/^add a handler for pods: its informer was released/);
    expect(() => factory.informerFor(Pods).addHandler({})).not.toThrow();
    await factory.shutdown();
  });

  test('freezes what it caches, if asked', async () => {
    const { client, factory, stop } = setUp({ freeze: true });
    const pods = factory.informerFor(Pods);
    factory.start(stop.signal);
    complete(await client.nextWatch(), 'a', 'b');
    await pods.waitForSync(stop.signal);
    const cached = pods.store.list();
    expect(cached.map((pod) => Object.isFrozen(pod) && Object.isFrozen(pod.metadata))).toEqual([true, true]);
    await factory.shutdown();
  });

  test('waits for the caches of all informers', async () => {
    const { client, factory, stop } = setUp();
    const informers = [factory.informerFor(Pods), factory.informerFor(Nodes)];
    factory.start(stop.signal);
    let synced = false;
    const waiting = factory.waitForCacheSync(stop.signal).then(() => (synced = true));
    complete(await client.nextWatch(), 'a');
    await settle();
    await settle();
    expect(synced).toBe(false);
    complete(await client.nextWatch());
    await waiting;
    expect(informers.map(({ hasSynced, store }) => [hasSynced, store.size])).toEqual([
      [true, 1],
      [true, 0],
    ]);
    await factory.shutdown();
  });

  test('a shutdown leaves no watch and no timer, and ends a wait for caches through its signal', async () => {
    const { client, clock, factory, stop } = setUp({ resyncMs: 1000 });
    factory.informerFor(Pods).addHandler({ updated() {} });
    factory.start(stop.signal);
    const watch = await client.nextWatch();
    const waiting = factory.waitForCacheSync(stop.signal);
    await factory.shutdown();
    expect(watch.left).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    stop.abort(new Error('stopping'));
    await expect(waiting).rejects.toThrow('stopping');
    factory.informerFor(Nodes);
    await settle();
    expect(client.unanswered).toBe(0);
  });

  test('its signal ends everything, and a shutdown waits for that end', async () => {
    const { client, factory, stop } = setUp();
    factory.informerFor(Pods);
    factory.start(stop.signal);
    const watch = await client.nextWatch();
    stop.abort();
    await factory.shutdown();
    expect(watch.left).toBe(true);
  });

  test('scopes namespaced kinds to its namespace, and follows the settings of a kind', async () => {
    const { client, factory, stop } = setUp({
      namespace: 'mine',
      settings: [settingsFor(ConfigMaps, { fieldSelector: 'metadata.name=x', transform: (object) => object })],
    });
    factory.informerFor(ConfigMaps);
    factory.informerFor(Nodes);
    factory.start(stop.signal);
    const [configMaps, nodes] = [await client.nextWatch(), await client.nextWatch()];
    expect(configMaps.options).toMatchObject({ namespace: 'mine', fieldSelector: 'metadata.name=x' });
    expect(nodes.options.namespace).toBeUndefined();
    await factory.shutdown();
  });

  test('releases an informer that has no handlers left, and makes a new one when asked again', async () => {
    const { client, factory, stop } = setUp();
    const informer = factory.informerFor(metadataOf(Pods));
    const registration = informer.addHandler({});
    factory.start(stop.signal);
    const watch = await client.nextWatch();
    await factory.release(metadataOf(Pods));
    expect(watch.left).toBe(false);
    registration.remove();
    await factory.release(metadataOf(Pods));
    expect(watch.left).toBe(true);
    const next = factory.informerFor(metadataOf(Pods));
    expect(next).not.toBe(informer);
    complete(await client.nextWatch());
    await next.waitForSync(stop.signal);
    await factory.shutdown();
  });

  test('reports the series of each kind under the names of the Go binary', async () => {
    const registry = createMetricsRegistry();
    const { client, factory, stop } = setUp({ metrics: createInformerMetrics(registry, 'test') });
    factory.informerFor(Pods);
    factory.start(stop.signal);
    complete(await client.nextWatch(), 'a', 'b');
    await factory.waitForCacheSync(stop.signal);
    const text = await registry.metrics();
    const labels = 'name="test",group="",version="v1",resource="pods"';
    expect(text).toContain(`informer_queued_items{${labels}} 0`);
    expect(text).toContain(`informer_processing_latency_seconds_count{${labels}} 3`);
    await factory.shutdown();
  });
});

describe('inspect', () => {
  test('tells the size of every cache, whether it has synced, and when it last changed', async () => {
    const { client, clock, factory, stop } = setUp({ metrics: createInformerMetrics(createMetricsRegistry(), 'test') });
    const pods = factory.informerFor(Pods);
    factory.informerFor(metadataOf(Nodes));
    factory.start(stop.signal);
    const watch = await client.nextWatch();
    const unsynced = { size: 0, hasSynced: false, changedAtMs: undefined };
    expect(factory.inspect()).toEqual([
      { kind: Pods, ...unsynced },
      { kind: metadataOf(Nodes), ...unsynced },
    ]);
    await clock.advance(1000);
    complete(watch, 'a', 'b');
    await pods.waitForSync(stop.signal);
    expect(factory.inspect()[0]).toEqual({ kind: Pods, size: 2, hasSynced: true, changedAtMs: 1000 });
    await clock.advance(5000);
    expect(factory.inspect()[0]?.changedAtMs).toBe(1000);
    await factory.shutdown();
  });
});
