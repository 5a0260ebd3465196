import { beforeEach, describe, expect, test } from 'vitest';

import {
  apiVersionOf,
  ClusterRoles,
  ConfigMaps,
  defineKind,
  objectKey,
  Secrets,
  type Kind,
  type MetadataOnly,
  type ObjectMeta,
  type OwnerReference,
} from '../../pkg/api/index.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { AbsentOwners } from './absent-owners.ts';
import { createCollector, type Collector } from './collector.ts';
import { DependencyGraph } from './graph.ts';
import { KnownKinds } from './live.ts';

const widgets = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
});
const never = new AbortController().signal;
const deletionTimestamp = '2026-01-01T00:00:00Z';
const namespace = 'a';

let client: RecordingClient;
let graph: DependencyGraph;
let collector: Collector;
let asked: string[];
let isGraphComplete: boolean;

beforeEach(() => {
  client = new RecordingClient();
  asked = [];
  isGraphComplete = true;
  const absent = new AbsentOwners();
  const attemptDelete = (uid: string): void => void asked.push(uid);
  graph = new DependencyGraph(absent, { attemptDelete, attemptOrphan: () => {}, foundForeignOwner: () => {} });
  const kinds = new KnownKinds();
  kinds.replace([ConfigMaps, Secrets, ClusterRoles, widgets].map((kind) => ({ kind, verbs: new Set<string>() })));
  collector = createCollector({
    client,
    graph,
    absent,
    kinds,
    logger: silentLogger,
    isGraphComplete: () => isGraphComplete,
    attemptDelete,
  });
});

/** Adds an object to the server and to the graph. */
function add(kind: Kind, name: string, metadata: ObjectMeta = {}): MetadataOnly {
  const place = kind.namespaced ? { namespace, name } : { name };
  const object = client.seed(kind, { metadata: { ...place, uid: `uid-${name}`, ...metadata } });
  observe(kind, object);
  return object;
}

function observe(kind: Kind, { metadata }: MetadataOnly): void {
  graph.observe({ apiVersion: apiVersionOf(kind), kind: kind.kind }, metadata);
  asked.splice(0);
}

function owner(name: string, kind: Kind = ConfigMaps, changes: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid: `uid-${name}`, ...changes };
}

/** Rejects strategic patches, as the API server does for custom resources. */
function refuseStrategic(): void {
  client.before('patch', ({ body }) => {
    const { type } = body as { readonly type: string };
    if (type === 'strategic') throw apiError(415, 'UnsupportedMediaType');
  });
}

describe('attemptDelete', () => {
  test('deletes the version that it has checked, and no other', async () => {
    const child = add(Secrets, 'child', { ownerReferences: [owner('gone')] });
    expect(await collector.attemptDelete('uid-child', never)).toEqual({});
    const { resourceVersion, uid } = child.metadata;
    expect(client.writes).toEqual([
      {
        verb: 'delete',
        resource: 'secrets',
        key: 'a/child',
        body: { propagationPolicy: 'Background', preconditions: { uid, resourceVersion } },
      },
    ]);
  });

  test('reads a deleted owner of many dependents once', async () => {
    for (const name of ['one', 'two', 'three']) add(Secrets, name, { ownerReferences: [owner('gone')] });
    for (const name of ['one', 'two', 'three']) await collector.attemptDelete(`uid-${name}`, never);
    expect(client.actions.filter(({ verb, key }) => verb === 'get' && key === 'a/gone')).toHaveLength(1);
    expect(client.stored(Secrets)).toEqual([]);
  });

  test('keeps an object that got another owner meanwhile', async () => {
    add(ConfigMaps, 'new');
    add(Secrets, 'child', { ownerReferences: [owner('gone')] });
    const undo = client.before('delete', async (_action, signal) => {
      const body = { metadata: { ownerReferences: [owner('gone'), owner('new')] } };
      undo();
      await client.patch(Secrets, objectKey('a', 'child'), { type: 'merge', body }, signal);
    });
    await expect(collector.attemptDelete('uid-child', never)).rejects.toMatchObject({ reason: 'Conflict' });
    expect(client.stored(Secrets)).toHaveLength(1);
    await collector.attemptDelete('uid-child', never);
    expect(client.stored(Secrets)[0]?.metadata.ownerReferences).toEqual([owner('new')]);
  });

  test('deletes an object with other changes meanwhile', async () => {
    add(Secrets, 'child', { ownerReferences: [owner('gone')] });
    const undo = client.before('delete', async (_action, signal) => {
      undo();
      await client.patch(
        Secrets,
        objectKey('a', 'child'),
        { type: 'merge', body: { metadata: { labels: { x: 'y' } } } },
        signal,
      );
    });
    await collector.attemptDelete('uid-child', never);
    expect(client.stored(Secrets)).toEqual([]);
    expect(client.writes.at(-1)?.body).toEqual({
      propagationPolicy: 'Background',
      preconditions: { uid: 'uid-child' },
    });
  });

  test('does not override a user who deletes the same object at the same time, without its dependents', async () => {
    add(Secrets, 'child', { ownerReferences: [owner('gone')] });
    const undo = client.before('delete', async (_action, signal) => {
      undo();
      await client.delete(Secrets, objectKey('a', 'child'), { propagationPolicy: 'Orphan' }, signal);
    });
    await collector.attemptDelete('uid-child', never);
    expect(client.stored(Secrets)[0]?.metadata.finalizers).toEqual(['orphan']);
  });

  test('does not treat an object as absent because its path is not served', async () => {
    add(Secrets, 'child', { ownerReferences: [owner('owner', widgets)] });
    for (const verb of ['get', 'list'] as const) {
      client.before(verb, ({ resource }) => {
        if (resource === 'widgets.example.com') throw apiError(404, 'NotFound', '404 page not found');
      });
    }
    await expect(collector.attemptDelete('uid-child', never)).rejects.toMatchObject({ reason: 'NotFound' });
    await expect(collector.attemptDelete('uid-owner', never)).rejects.toMatchObject({ reason: 'NotFound' });
    expect(client.writes).toEqual([]);
    expect(graph.get('uid-owner')).toBeDefined();
  });

  test('treats a dependent as gone although the 404 does not name it', async () => {
    const parent = add(widgets, 'parent', { deletionTimestamp, finalizers: ['orphan'] });
    add(Secrets, 'child', { ownerReferences: [owner('parent', widgets)] });
    for (const verb of ['get', 'patch'] as const) {
      client.before(verb, ({ resource }) => {
        if (resource === 'secrets') throw apiError(404, 'NotFound', 'not found');
      });
    }
    await collector.attemptOrphan(parent.metadata.uid, never);
    expect(client.stored(widgets)).toEqual([]);
  });

  test('treats an owner as absent if another object has its name', async () => {
    add(ConfigMaps, 'owner', { uid: 'another' });
    add(Secrets, 'child', { ownerReferences: [owner('owner')] });
    await collector.attemptDelete('uid-child', never);
    expect(client.stored(Secrets)).toEqual([]);
    expect(client.stored(ConfigMaps)).toHaveLength(1);
  });

  test('never reads an owner in another namespace', async () => {
    add(ConfigMaps, 'owner', { namespace: 'b' });
    add(Secrets, 'child', { ownerReferences: [owner('owner')] });
    await collector.attemptDelete('uid-child', never);
    expect(client.stored(Secrets)).toEqual([]);
    expect(client.stored(ConfigMaps)).toHaveLength(1);
  });

  test('removes absent owners by uid in one patch', async () => {
    add(ConfigMaps, 'left');
    add(Secrets, 'child', { ownerReferences: [owner('gone'), owner('left'), owner('lost')] });
    await collector.attemptDelete('uid-child', never);
    const ownerReferences = ['uid-gone', 'uid-lost'].map((uid) => ({ $patch: 'delete', uid }));
    expect(client.writes).toEqual([
      {
        verb: 'patch',
        resource: 'secrets',
        key: 'a/child',
        body: { type: 'strategic', body: { metadata: { uid: 'uid-child', ownerReferences } } },
      },
    ]);
    expect(client.stored(Secrets)[0]?.metadata.ownerReferences).toEqual([owner('left')]);
  });

  test('uses merge patches for custom resources, and tries a strategic patch only once', async () => {
    refuseStrategic();
    add(ConfigMaps, 'left');
    const ownerReferences = [owner('gone'), owner('left')];
    const versions = ['one', 'two'].map((name) => add(widgets, name, { ownerReferences }).metadata.resourceVersion);
    for (const name of ['one', 'two']) await collector.attemptDelete(`uid-${name}`, never);
    expect(client.writes.map(({ body }) => body)).toMatchObject([
      { type: 'strategic' },
      ...versions.map((resourceVersion) => ({
        type: 'merge',
        body: { metadata: { resourceVersion, ownerReferences: [owner('left')] } },
      })),
    ]);
  });

  test('completes the deletion of an owner whose dependents are gone', async () => {
    add(ConfigMaps, 'owner', { deletionTimestamp, finalizers: ['x', 'foregroundDeletion'] });
    await collector.attemptDelete('uid-owner', never);
    expect(client.writes).toMatchObject([
      { verb: 'patch', body: { type: 'merge', body: { metadata: { finalizers: ['x'] } } } },
    ]);
    add(ConfigMaps, 'last', { deletionTimestamp, finalizers: ['foregroundDeletion'] });
    await collector.attemptDelete('uid-last', never);
    expect(client.stored(ConfigMaps).map(({ metadata }) => metadata.name)).toEqual(['owner']);
  });

  test('enqueues the dependents that block their owner', async () => {
    add(ConfigMaps, 'owner', { deletionTimestamp, finalizers: ['foregroundDeletion'] });
    add(Secrets, 'blocking', { ownerReferences: [owner('owner', ConfigMaps, { blockOwnerDeletion: true })] });
    add(Secrets, 'other', { ownerReferences: [owner('owner')] });
    await collector.attemptDelete('uid-owner', never);
    expect(asked).toEqual(['uid-blocking']);
    expect(client.writes).toEqual([]);
  });

  test('unblocks owners before a foreground deletion in a possible cycle', async () => {
    const waiting = { deletionTimestamp, finalizers: ['foregroundDeletion'] };
    add(ConfigMaps, 'owner', waiting);
    add(Secrets, 'middle', { ownerReferences: [owner('owner', ConfigMaps, { blockOwnerDeletion: true })] });
    add(ConfigMaps, 'last', { ownerReferences: [owner('middle', Secrets)], ...waiting });
    await collector.attemptDelete('uid-middle', never);
    const [middle] = client.stored(Secrets);
    expect(middle?.metadata).toMatchObject({
      finalizers: ['foregroundDeletion'],
      ownerReferences: [owner('owner', ConfigMaps, { blockOwnerDeletion: false })],
    });
    expect(client.writes.map(({ verb }) => verb)).toEqual(['patch', 'delete']);
  });

  test('does nothing for a terminating object', async () => {
    add(Secrets, 'deleting', { deletionTimestamp, finalizers: ['x'], ownerReferences: [owner('gone')] });
    add(Secrets, 'orphaning', { deletionTimestamp, finalizers: ['orphan'], ownerReferences: [owner('gone')] });
    for (const name of ['deleting', 'orphaning', 'unknown']) await collector.attemptDelete(`uid-${name}`, never);
    expect(client.actions).toEqual([]);
  });

  test('waits for the watch if the live object is already terminating', async () => {
    const child = add(Secrets, 'child', { finalizers: ['x'], ownerReferences: [owner('gone')] });
    await client.delete(Secrets, objectKey('a', 'child'), {}, never);
    client.actions.splice(0);
    expect(child.metadata.deletionTimestamp).toBeUndefined();
    await collector.attemptDelete('uid-child', never);
    expect(client.writes).toEqual([]);
  });

  test('does not collect a cluster-scoped object with a namespaced owner', async () => {
    add(ClusterRoles, 'role', { ownerReferences: [owner('gone')] });
    expect(await collector.attemptDelete('uid-role', never)).toEqual({});
    expect(await collector.attemptDelete('uid-gone', never)).toEqual({});
    expect(client.writes).toEqual([]);
  });

  test('reads no object without owners: its dependents were listed before it', async () => {
    add(ConfigMaps, 'owner');
    add(ConfigMaps, 'dependent', { ownerReferences: [owner('owner')] });
    expect(await collector.attemptDelete('uid-owner', never)).toEqual({});
    expect(client.actions).toEqual([]);
  });

  test('waits for a kind that is not served', async () => {
    const unknown = owner('gone', ConfigMaps, { kind: 'Unknown' });
    add(Secrets, 'child', { ownerReferences: [unknown] });
    expect(await collector.attemptDelete('uid-child', never)).toEqual({ requeueAfterMs: 30_000 });
    expect(await collector.attemptDelete('uid-gone', never)).toEqual({ requeueAfterMs: 30_000 });
    expect(client.writes).toEqual([]);
  });

  test('checks an owner that is not observed again with back-off', async () => {
    client.seed(ConfigMaps, { metadata: { namespace, name: 'owner', uid: 'uid-owner' } });
    add(Secrets, 'child', { ownerReferences: [owner('owner')] });
    const waits: (number | undefined)[] = [];
    for (let asking = 0; asking < 15; asking++) {
      waits.push((await collector.attemptDelete('uid-owner', never)).requeueAfterMs);
    }
    expect(waits.slice(0, 4)).toEqual([100, 200, 400, 800]);
    expect(waits.at(-1)).toBe(600_000);
  });

  test('removes deleted objects from the graph', async () => {
    add(Secrets, 'child', { ownerReferences: [owner('owner')] });
    await client.delete(Secrets, objectKey('a', 'child'), {}, never);
    await collector.attemptDelete('uid-child', never);
    expect(graph.size).toBe(0);
  });
});

describe('attemptOrphan', () => {
  const orphaning = { deletionTimestamp, finalizers: ['orphan'] };

  test('orphans every dependent before it removes the finalizer of the owner', async () => {
    add(ConfigMaps, 'owner', orphaning);
    add(Secrets, 'one', { ownerReferences: [owner('owner'), owner('other')] });
    add(Secrets, 'two', { ownerReferences: [owner('owner')] });
    await collector.attemptOrphan('uid-owner', never);
    expect(client.stored(Secrets).map(({ metadata }) => metadata.ownerReferences)).toEqual([[owner('other')], []]);
    expect(client.stored(ConfigMaps)).toEqual([]);
    expect(client.writes.at(-1)).toMatchObject({ verb: 'patch', resource: 'configmaps' });
  });

  test('orphans custom resources with merge patches', async () => {
    refuseStrategic();
    add(ConfigMaps, 'owner', orphaning);
    add(widgets, 'one', { ownerReferences: [owner('owner')] });
    await client.patch(
      widgets,
      objectKey('a', 'one'),
      { type: 'merge', body: { metadata: { labels: { x: 'y' } } } },
      never,
    );
    await collector.attemptOrphan('uid-owner', never);
    expect(client.stored(widgets)[0]?.metadata.ownerReferences).toBeUndefined();
    expect(client.stored(ConfigMaps)).toEqual([]);
  });

  test('orphans a dependent that is added meanwhile', async () => {
    add(ConfigMaps, 'owner', orphaning);
    add(Secrets, 'one', { ownerReferences: [owner('owner')] });
    const undo = client.before('patch', () => {
      undo();
      add(Secrets, 'late', { ownerReferences: [owner('owner')] });
    });
    await collector.attemptOrphan('uid-owner', never);
    expect(client.stored(Secrets).map(({ metadata }) => metadata.ownerReferences)).toEqual([[], []]);
  });

  test('keeps the owner while one dependent cannot be orphaned, but orphans the others', async () => {
    add(ConfigMaps, 'owner', orphaning);
    for (const name of ['one', 'two', 'three']) add(Secrets, name, { ownerReferences: [owner('owner')] });
    client.before('patch', ({ key }) => {
      if (key === 'a/one') throw apiError(403, 'Forbidden');
    });
    await expect(collector.attemptOrphan('uid-owner', never)).rejects.toMatchObject({ reason: 'Forbidden' });
    expect(client.stored(ConfigMaps)).toHaveLength(1);
    const bound = client.stored(Secrets).filter(({ metadata }) => (metadata.ownerReferences ?? []).length > 0);
    expect(bound.map(({ metadata }) => metadata.name)).toEqual(['one']);
  });

  test('waits until the graph is complete', async () => {
    isGraphComplete = false;
    add(ConfigMaps, 'owner', orphaning);
    expect(await collector.attemptOrphan('uid-owner', never)).toEqual({ requeueAfterMs: 1000 });
    expect(client.actions).toEqual([]);
  });

  test('does nothing for an owner that is gone or does not orphan', async () => {
    add(ConfigMaps, 'alive');
    add(ConfigMaps, 'owner', orphaning);
    await client.patch(
      ConfigMaps,
      objectKey('a', 'owner'),
      { type: 'merge', body: { metadata: { finalizers: null } } },
      never,
    );
    client.actions.splice(0);
    for (const name of ['alive', 'owner', 'unknown']) await collector.attemptOrphan(`uid-${name}`, never);
    expect(client.writes).toEqual([]);
  });
});
