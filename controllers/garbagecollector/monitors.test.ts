import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import {
  apiVersionOf,
  ConfigMaps,
  CustomResourceDefinitions,
  defineKind,
  objectKey,
  Secrets,
  type Kind,
} from '../../pkg/api/index.ts';
import type { DiscoveryResult } from '../../pkg/client/index.ts';
import {
  createInformerMetrics,
  createSharedInformerFactory,
  type SharedInformerFactory,
} from '../../informers/index.ts';
import { createMetricsRegistry, defineCounter, type Counter, type MetricsRegistry } from '../../pkg/metrics/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { AbsentOwners } from './absent-owners.ts';
import { createApplyChange, type GraphChange } from './changes.ts';
import { DependencyGraph } from './graph.ts';
import { KnownKinds } from './live.ts';
import { Monitors, selectDeletable } from './monitors.ts';

const never = new AbortController().signal;
const all = ['get', 'list', 'watch', 'delete'];
const widgets = (version: string): Kind =>
  defineKind({ group: 'example.com', version, kind: 'Widget', resource: 'widgets', namespaced: true });

function discovered(kinds: readonly Kind[], failures: Record<string, string> = {}): DiscoveryResult {
  const resources = kinds.map((kind) => ({ kind, verbs: new Set(all) }));
  return { resources, failures: new Map(Object.entries(failures)) };
}

describe('selectDeletable', () => {
  const events = defineKind({ group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true });
  const rows = [
    { name: 'selects resources that can be listed, watched and deleted', kind: ConfigMaps, verbs: all, taken: true },
    { name: 'skips resources that cannot be deleted', kind: ConfigMaps, verbs: ['list', 'watch'], taken: false },
    { name: 'skips resources that cannot be watched', kind: ConfigMaps, verbs: ['list', 'delete'], taken: false },
    { name: 'skips resources that cannot be listed', kind: ConfigMaps, verbs: ['watch', 'delete'], taken: false },
    { name: 'skips events', kind: events, verbs: all, taken: false },
    {
      name: 'skips events of the newer group',
      kind: { ...events, group: 'events.k8s.io' },
      verbs: all,
      taken: false,
    },
    {
      name: 'selects other resources of that name',
      kind: { ...events, group: 'example.com' },
      verbs: all,
      taken: true,
    },
  ];
  for (const { name, kind, verbs, taken } of rows) {
    test(name, () => {
      const result = { resources: [{ kind, verbs: new Set(verbs) }], failures: new Map<string, string>() };
      expect(selectDeletable(result)).toEqual(taken ? [kind] : []);
    });
  }
});

describe('Monitors', () => {
  let client: RecordingClient;
  /** Of the informers that others share. */
  let shared: RecordingClient;
  let informers: SharedInformerFactory;
  let clock: FakeClock;
  let offered: DiscoveryResult | Error;
  let graph: DependencyGraph;
  let kinds: KnownKinds;
  let changes: GraphChange[];
  let definitionChanges: number;
  let syncErrors: Counter;
  let registry: MetricsRegistry;
  let monitors: Monitors;

  beforeEach(() => {
    client = new RecordingClient();
    shared = new RecordingClient({ sharing: client });
    clock = new FakeClock();
    kinds = new KnownKinds();
    changes = [];
    definitionChanges = 0;
    registry = createMetricsRegistry();
    syncErrors = defineCounter(registry, { name: 'errors', help: 'x' });
    const ignore = (): void => {};
    graph = new DependencyGraph(new AbsentOwners(), {
      attemptDelete: ignore,
      attemptOrphan: ignore,
      foundForeignOwner: ignore,
    });
    const answer = async (): Promise<DiscoveryResult> => {
      if (offered instanceof Error) throw offered;
      return offered;
    };
    informers = createSharedInformerFactory({ client: shared, clock, logger: silentLogger, random: () => 0 });
    monitors = new Monitors({
      informers,
      client,
      discovery: {
        preferred: answer,
        all: answer,
        kindFor: async () => undefined,
        refresh: async () => void (await answer()),
      },
      kinds,
      clock,
      logger: silentLogger,
      syncErrors,
      informerMetrics: createInformerMetrics(registry, 'kube-controller-manager'),
      enqueue: (change) => changes.push(change),
      onDefinitionsChanged: () => definitionChanges++,
    });
  });

  afterEach(async () => {
    await monitors.stop();
    await informers.shutdown();
  });

  async function sync(offer: DiscoveryResult | Error): Promise<unknown> {
    offered = offer;
    const result = await monitors.sync(never).catch((error: unknown) => error);
    await applyChanges();
    return result;
  }

  async function applyChanges(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    const apply = createApplyChange(graph, clock, silentLogger);
    for (const change of changes.splice(0)) await apply(change, never);
    await new Promise(setImmediate);
  }

  const add = (kind: Kind, name: string): void => {
    client.seed(kind, { metadata: { namespace: 'a', name, uid: name, labels: { x: 'y' } } });
  };
  const watched = (): string[] => client.actions.filter(({ verb }) => verb === 'watch').map(({ resource }) => resource);

  test('fill the graph, and keep it up to date', async () => {
    add(ConfigMaps, 'one');
    expect(await sync(discovered([ConfigMaps, Secrets]))).toEqual({ requeueAfterMs: 30_000 });
    expect(monitors.isSynced).toBe(true);
    expect(graph.get('one')).toMatchObject({ kind: 'ConfigMap', namespace: 'a', name: 'one' });
    add(Secrets, 'two');
    await client.delete(ConfigMaps, objectKey('a', 'one'), {}, never);
    await applyChanges();
    expect([graph.get('one'), graph.get('two')?.kind]).toEqual([undefined, 'Secret']);
  });

  test('watch each resource once, however often discovery is asked', async () => {
    for (let round = 0; round < 3; round++) await sync(discovered([ConfigMaps, Secrets]));
    expect(watched().sort()).toEqual(['configmaps', 'secrets']);
    expect(kinds.find({ apiVersion: 'v1', kind: 'Secret' })).toMatchObject({ resource: 'secrets' });
  });

  test('have the series of an informer for each resource from the start, and remove them at the end', async () => {
    await sync(discovered([ConfigMaps, Secrets]));
    const series = async (): Promise<string[]> =>
      [...(await registry.metrics()).matchAll(/^informer_queued_items\{.*resource="(\w+)".*\} 0$/gm)].map(
        ([, name = '']) => name,
      );
    expect(await series()).toEqual(['configmaps', 'secrets']);
    expect(await registry.metrics()).toContain('informer_processing_latency_seconds_count{');
    await monitors.stop();
    expect(await series()).toEqual([]);
  });

  test('see what others watch anyway through their informers, from the beginning and as it changes', async () => {
    add(ConfigMaps, 'one');
    informers.informerFor(ConfigMaps);
    informers.start(never);
    await sync(discovered([ConfigMaps, Secrets]));
    await applyChanges();
    expect(watched()).toEqual(['secrets']);
    expect(monitors.isSynced).toBe(true);
    expect(graph.get('one')).toMatchObject({ kind: 'ConfigMap', isObserved: true });
    add(ConfigMaps, 'two');
    add(ConfigMaps, 'three');
    await client.delete(ConfigMaps, objectKey('a', 'one'), {}, never);
    await applyChanges();
    expect(['one', 'two', 'three'].map((uid) => graph.get(uid)?.name)).toEqual([undefined, 'two', 'three']);
  });

  const sharedUpdates = [
    { name: 'a change of the status', change: { status: { phase: 'x' } }, changes: 0 },
    { name: 'a change of labels', change: { metadata: { labels: { x: 'z' } } }, changes: 0 },
    { name: 'a finalizer', change: { metadata: { finalizers: ['example.com/f'] } }, changes: 1 },
    {
      name: 'an owner',
      change: { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 'o', uid: 'o' }] } },
      changes: 1,
    },
  ];
  for (const { name, change, changes: expected } of sharedUpdates) {
    test(`learn from the informers of others about ${name}: ${expected} changes of the graph`, async () => {
      add(ConfigMaps, 'one');
      informers.informerFor(ConfigMaps);
      informers.start(never);
      await sync(discovered([ConfigMaps]));
      await applyChanges();
      await client.patch(ConfigMaps, objectKey('a', 'one'), { type: 'merge', body: change }, never);
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      expect(changes).toHaveLength(expected);
    });
  }

  test('are not synced before the informers of others are', async () => {
    informers.informerFor(ConfigMaps);
    await sync(discovered([ConfigMaps]));
    expect(monitors.isSynced).toBe(false);
    informers.start(never);
    await applyChanges();
    await applyChanges();
    expect(monitors.isSynced).toBe(true);
  });

  test('need the informers of others no more once they are stopped', async () => {
    informers.informerFor(ConfigMaps);
    informers.start(never);
    await sync(discovered([ConfigMaps]));
    await monitors.stop();
    await informers.release(ConfigMaps); // does nothing while a handler is registered
    expect(informers.find(ConfigMaps)).toBeUndefined();
  });

  test('stop watching a resource that is not served any more', async () => {
    add(widgets('v1'), 'one');
    await sync(discovered([ConfigMaps, widgets('v1')]));
    expect(graph.size).toBe(1);
    await sync(discovered([ConfigMaps]));
    expect(graph.size).toBe(0);
    await sync(discovered([ConfigMaps, widgets('v1')]));
    expect(graph.size).toBe(1);
  });

  test('keep the objects of a resource when its version changes, without a gap', async () => {
    add(widgets('v1'), 'one');
    await sync(discovered([widgets('v1')]));
    const node = graph.get('one');
    await sync(discovered([widgets('v2')]));
    await applyChanges();
    expect(graph.get('one')).toBe(node);
    expect(node).toMatchObject({ apiVersion: apiVersionOf(widgets('v2')), isObserved: true });
  });

  test('keep watching resources whose discovery failed', async () => {
    add(widgets('v1'), 'one');
    await sync(discovered([ConfigMaps, widgets('v1')]));
    await sync(discovered([ConfigMaps], { 'example.com/v1': 'no answer' }));
    expect(graph.get('one')?.isObserved).toBe(true);
  });

  test('keep all watches and count an error if discovery fails or returns nothing', async () => {
    add(ConfigMaps, 'one');
    await sync(discovered([ConfigMaps]));
    expect(await sync(new Error('no answer'))).toBeInstanceOf(Error);
    expect(await sync(discovered([]))).toBeInstanceOf(Error);
    expect(graph.size).toBe(1);
    expect(syncErrors.value).toBe(2);
  });

  test('refresh discovery a few times soon after a definition has changed', async () => {
    await sync(discovered([CustomResourceDefinitions]));
    add(CustomResourceDefinitions, 'widgets');
    await applyChanges();
    expect(definitionChanges).toBe(1);
    const waits: unknown[] = [];
    for (let round = 0; round < 4; round++) waits.push(await sync(discovered([CustomResourceDefinitions])));
    expect(waits.map((wait) => (wait as { requeueAfterMs: number }).requeueAfterMs)).toEqual([
      3000, 3000, 3000, 30_000,
    ]);
  });

  test('do not let work wait for ever for a resource that cannot be listed, but count it', async () => {
    for (const verb of ['watch', 'list'] as const) {
      client.before(verb, ({ resource }) => {
        if (resource === 'secrets') throw apiError(500, 'InternalError');
      });
    }
    await sync(discovered([ConfigMaps, Secrets]));
    let isReady = false;
    const ready = monitors.waitForSync(never).then(() => (isReady = true));
    await clock.advance(29_000);
    expect(isReady).toBe(false);
    await clock.advance(2000);
    await ready;
    expect(monitors.isSynced).toBe(false);
    await sync(discovered([ConfigMaps, Secrets]));
    await sync(discovered([ConfigMaps, Secrets]));
    expect(syncErrors.value).toBe(1);
  });

  test('leave no timer and no watch behind', async () => {
    await sync(discovered([ConfigMaps]));
    await monitors.waitForSync(never);
    await monitors.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
