import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInformer, createSharedInformerFactory, defineIndex } from '../../informers/index.ts';
import { ConfigMaps, keyOf, metadataOf, objectKey } from '../../pkg/api/index.ts';
import type { Cached, ConfigMap, ObjectKey } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { isSandbox, type Cluster } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { RecordingLogger } from '../support/loggers.ts';
import { Mirror } from '../support/mirror.ts';
import { Partition } from '../support/partition.ts';
import { RandomWriters } from '../support/random-writers.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

/** How many changes the randomised tests make in all; a long run takes a larger number from the environment. */
const totalChanges = Number(process.env['INFORMER_CHANGES'] ?? 2_500);
/** Ends a run that hangs, and no other: a busy machine makes some hundred changes a second. */
const longEnough = 120_000 + totalChanges * 20;
/** Short, so that a paused server is detected within a test. */
const impatient = { idleTimeoutMs: 1500, requestTimeoutMs: 1500 };

const byWriter = defineIndex<ConfigMap>('data.writer', ({ data }) => [data?.['writer'] ?? 'nobody']);

interface Clients {
  /** For the informers: a short timeout, to detect a server that does not respond. */
  readonly reader: Client;
  /** For the changes, which must succeed, however long they take. */
  readonly writer: Client;
}

function useClients(cluster: () => Cluster): () => Clients {
  let builder: ClientBuilder | undefined;
  let clients: Clients | undefined;
  beforeAll(async () => {
    const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
    builder = new ClientBuilder({ connection, clock: systemClock, userAgent: 'informers-suite' });
    const { requestTimeoutMs: timeoutMs } = impatient;
    clients = { reader: builder.clientFor('informers', { timeoutMs }), writer: builder.clientFor('writers') };
  });
  afterAll(() => builder?.close());
  return () => {
    if (clients === undefined) throw new Error('clients exist inside tests only');
    return clients;
  };
}

/** The objects of the server, read while there are no writes. */
async function stateOf(client: Client, namespace: string, signal: AbortSignal): Promise<Map<ObjectKey, ConfigMap>> {
  const { items } = await client.listAll(ConfigMaps, { namespace }, signal);
  return new Map(items.map((item) => [keyOf(item), item]));
}

/** Resolves when the informer has observed all writes so far, and its handlers have been called. */
async function catchUp(
  { writer }: Clients,
  { store, mirror, namespace }: { store: Observed['informer']['store']; mirror: Mirror<ConfigMap>; namespace: string },
  signal: AbortSignal,
): Promise<void> {
  const marker = { metadata: { namespace, generateName: 'marker-' } };
  const { metadata } = await eventually(() => writer.create(ConfigMaps, marker, signal), signal);
  await store.waitUntilSeen(metadata.resourceVersion, signal);
  await eventually(async () => mirror.objects.has(objectKey(namespace, metadata.name)), signal);
}

type Observed = ReturnType<typeof observe>;

function observe({ reader }: Clients, namespace: string) {
  const client = new Partition(reader);
  const logger = new RecordingLogger();
  const { idleTimeoutMs } = impatient;
  const informer = createInformer(
    ConfigMaps,
    { client, clock: systemClock, logger, idleTimeoutMs, random: () => 0 },
    { namespace },
  );
  informer.addIndex(byWriter);
  const mirror = new Mirror<ConfigMap>();
  informer.addHandler({
    added() {
      throw new Error('a handler that always throws');
    },
  });
  informer.addHandler({ updated: (_, after) => spin(after.metadata.resourceVersion.endsWith('00') ? 20 : 0) });
  informer.addHandler(mirror.handler);
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  const finish = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { informer, mirror, client, logger, namespace, store: informer.store, finish };
}

/** The server neither responds nor closes a connection until the informer has replaced its watch. */
async function pauseUntilNoticed({ apiServer }: Cluster, { logger }: Observed, signal: AbortSignal): Promise<void> {
  const failures = (): number => logger.lines.filter(({ message }) => message === 'list or watch failed').length;
  const before = failures();
  apiServer.pause();
  await eventually(async () => failures() > before, signal);
  apiServer.resume();
}

/** The informer cannot reach the server, but others can. */
async function cutDuring({ client }: Observed, trouble: () => Promise<void>): Promise<void> {
  client.cut();
  await trouble();
  client.restore();
}

/** A slow handler. */
function spin(ms: number): void {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs;);
}

const versionsOf = (objects: Iterable<Cached<ConfigMap>>): string[] =>
  [...objects].map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort();

function expectSameState({ informer, mirror }: Observed, expected: ReadonlyMap<ObjectKey, ConfigMap>): void {
  expect(versionsOf(informer.store.list())).toEqual(versionsOf(expected.values()));
  mirror.expectHolds(expected);
  const byHand = Map.groupBy(expected.values(), (object) => object.data?.['writer']);
  for (const [writer = 'nobody', written] of byHand) {
    expect(versionsOf(informer.store.byIndex(byWriter, writer))).toEqual(versionsOf(written));
  }
}

describe('an informer of a real server', () => {
  const cluster = useCluster();
  const clients = useClients(cluster);

  test(
    'delivers every change once while connections die silently',
    async ({ signal }) => {
      const namespace = await createNamespace(cluster());
      const observed = observe(clients(), namespace);
      await observed.informer.waitForSync(signal);
      const told: string[] = [];
      observed.informer.addHandler({
        added: ({ metadata }) => told.push(`${metadata.name}@${metadata.resourceVersion}`),
        updated: (_, { metadata }) => told.push(`${metadata.name}@${metadata.resourceVersion}`),
        deleted: ({ metadata }, missed) => told.push(`${metadata.name} ${missed ? 'gone unseen' : 'deleted'}`),
      });
      const writers = new RandomWriters(clients().writer, { namespace, seed: 1 });
      for (let pauses = 0; pauses < 3; pauses++) {
        const writing = writers.run(Math.ceil(totalChanges * 0.1), signal);
        await pauseUntilNoticed(cluster(), observed, signal);
        await cutDuring(observed, () => writers.until(200, signal));
        await writing;
      }
      await catchUp(clients(), observed, signal);
      expectSameState(observed, await stateOf(clients().writer, namespace, signal));
      expect(told.filter((line) => !line.startsWith('marker-')).sort()).toEqual(writers.made.sort());
      await observed.finish();
    },
    longEnough,
  );

  test(
    'ends up with the state of a server that is killed, restarted, paused and compacted',
    async ({ signal }) => {
      const namespace = await createNamespace(cluster());
      const observed = observe(clients(), namespace);
      const writers = new RandomWriters(clients().writer, { namespace, seed: 2 });
      const { apiServer, etcd } = cluster();
      const troubles: (() => Promise<void>)[] = [
        async () => {
          await apiServer.kill();
          await apiServer.start();
        },
        () => apiServer.restart(),
        async () => {
          await cluster().compact();
          await apiServer.restart();
        },
        () => pauseUntilNoticed(cluster(), observed, signal),
        async () => {
          await etcd.kill();
          await etcd.start();
        },
        () =>
          cutDuring(observed, async () => {
            await writers.until(200, signal); // so that changes are missed
            await apiServer.kill();
            await cluster().compact();
            await apiServer.start();
          }),
      ];
      for (const trouble of troubles) {
        const late = new Mirror<ConfigMap>();
        const registration = observed.informer.addHandler(late.handler);
        const changes = Math.ceil((totalChanges * 0.7) / troubles.length);
        await writers.run(Math.ceil(changes / 3), signal);
        const over = Promise.resolve().then(trouble); // when the writers below run
        await writers.run(Math.ceil(changes / 3), signal, over);
        await over;
        await writers.run(Math.ceil(changes / 3), signal);
        await catchUp(clients(), observed, signal);
        const state = await stateOf(clients().writer, namespace, signal);
        expectSameState(observed, state);
        await eventually(async () => late.objects.size === state.size, signal);
        late.expectHolds(state);
        registration.remove();
      }
      expect(observed.mirror.missedDeletes).toBeGreaterThan(0); // relists found deleted objects
      await observed.finish();
    },
    longEnough,
  );

  test('replays the cache to a handler that asks for it, and only to that one', async ({ signal }) => {
    const namespace = await createNamespace(cluster());
    const factory = createSharedInformerFactory({
      client: clients().reader,
      clock: systemClock,
      logger: new RecordingLogger(),
      namespace,
    });
    const created = await clients().writer.create(ConfigMaps, { metadata: { namespace, name: 'one' } }, signal);
    const [resynced, others]: [string[], string[]] = [[], []];
    const informer = factory.informerFor(ConfigMaps);
    const watched = factory.informerFor(metadataOf(ConfigMaps));
    informer.addHandler(
      { updated: (before, after) => before === after && resynced.push(after.metadata.uid) },
      { resyncMs: 20 },
    );
    informer.addHandler({ updated: (_, after) => others.push(after.metadata.uid) });
    const stop = new AbortController();
    factory.start(stop.signal);
    await factory.waitForCacheSync(signal);
    await eventually(async () => resynced.length >= 3, signal);
    expect(new Set(resynced)).toEqual(new Set([created.metadata.uid]));
    expect(others).toEqual([]);
    expect(watched.store.list().map(keyOf)).toEqual([keyOf(created)]);
    await factory.shutdown();
  });
});

describe.skipIf(isSandbox)('an informer of a server that cannot stream lists', () => {
  const cluster = useCluster({ featureGates: { WatchList: false } });
  const clients = useClients(cluster);

  test('lists pages instead, and then watches as usual', async ({ signal }) => {
    const namespace = await createNamespace(cluster());
    const writers = new RandomWriters(clients().writer, { namespace, seed: 3, names: 1000 });
    await writers.run(1500, signal);
    const observed = observe(clients(), namespace);
    await observed.informer.waitForSync(signal);
    expect(observed.informer.store.size).toBeGreaterThan(500); // more than one page
    await writers.run(300, signal);
    await catchUp(clients(), observed, signal);
    expectSameState(observed, await stateOf(clients().writer, namespace, signal));
    const refusals = observed.logger.lines.filter(({ fields }) => fields['failure'] === 'refused');
    expect(refusals.length).toBe(1);
    await observed.finish();
  });
});
