import { describe, expect, test } from 'vitest';

import { ConfigMaps, keyOf, metadataOf, Pods, type Pod, type Unsaved } from '../api/index.ts';
import { isAlreadyExists, isConflict, isNotFound, type Patch } from '../client/index.ts';
import { apiError, RecordingClient } from './recording-client.ts';

const { signal } = new AbortController();
const pod = (name: string, extra: Partial<Unsaved<Pod>> = {}): Unsaved<Pod> => ({
  metadata: { namespace: 'a', name, labels: { app: name } },
  spec: { containers: [{ name: 'c' }] },
  ...extra,
});

describe('RecordingClient', () => {
  test('refuses a second create and an update of an old version', async () => {
    const client = new RecordingClient();
    const created = await client.create(Pods, pod('x'), signal);
    await expect(client.create(Pods, pod('x'), signal)).rejects.toSatisfy(isAlreadyExists);
    await client.update(Pods, { ...created, spec: { ...created.spec, nodeName: 'n' } }, signal);
    await expect(client.update(Pods, created, signal)).rejects.toSatisfy(isConflict);
    expect(client.writes.map(({ verb }) => verb)).toEqual(['create', 'create', 'update', 'update']);
  });

  test('separates the status from the rest and counts generations', async () => {
    const client = new RecordingClient();
    const created = await client.create(Pods, pod('x'), signal);
    const status = { phase: 'Running' };
    const running = await client.updateStatus(Pods, { ...created, status, spec: { containers: [] } }, signal);
    expect(running).toMatchObject({ status, spec: created.spec, metadata: { generation: 1 } });
    const bound = { ...running, status: { phase: 'Failed' }, spec: { ...running.spec, nodeName: 'n' } };
    expect(await client.update(Pods, bound, signal)).toMatchObject({ status, metadata: { generation: 2 } });
  });

  test('keeps an object with finalizers until the last is removed', async () => {
    const client = new RecordingClient();
    const kept = client.seed(Pods, pod('x', { metadata: { namespace: 'a', name: 'x', finalizers: ['f'] } }));
    await client.delete(Pods, keyOf(kept), {}, signal);
    expect(client.stored(Pods)[0]?.metadata.deletionTimestamp).toBeDefined();
    await client.patch(Pods, keyOf(kept), { type: 'merge', body: { metadata: { finalizers: null } } }, signal);
    await expect(client.get(Pods, keyOf(kept), signal)).rejects.toSatisfy(isNotFound);
  });

  test('refuses a delete whose precondition does not hold', async () => {
    const client = new RecordingClient();
    const { metadata } = client.seed(Pods, pod('x'));
    const other = { preconditions: { uid: 'another' } };
    await expect(client.delete(Pods, keyOf({ metadata }), other, signal)).rejects.toSatisfy(isConflict);
    await client.delete(Pods, keyOf({ metadata }), { preconditions: { uid: metadata.uid } }, signal);
    expect(client.stored(Pods)).toEqual([]);
  });

  test('selects by namespace, labels and fields', async () => {
    const client = new RecordingClient();
    for (const name of ['x', 'y', 'z']) client.seed(Pods, pod(name));
    const names = async (options: object): Promise<string[]> =>
      (await client.list(Pods, options, signal)).items.map(({ metadata }) => metadata.name);
    expect(await names({ labelSelector: 'app in (x,y),app!=y' })).toEqual(['x']);
    expect(await names({ labelSelector: '!app' })).toEqual([]);
    expect(await names({ fieldSelector: 'metadata.name!=x' })).toEqual(['y', 'z']);
    expect(await names({ namespace: 'b' })).toEqual([]);
    expect((await client.list(metadataOf(Pods), {}, signal)).items[0]).not.toHaveProperty('spec');
  });

  test('streams the current state, then changes, until aborted', async () => {
    const client = new RecordingClient();
    client.seed(Pods, pod('x'));
    const stop = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const event of client.watch(Pods, { sendInitialEvents: true }, stop.signal)) {
        seen.push(event.type);
        if (event.type === 'BOOKMARK') await client.create(Pods, pod('y'), signal);
        if (seen.length === 3) stop.abort();
      }
    })();
    await expect(watching).rejects.toThrow();
    expect(seen).toEqual(['ADDED', 'BOOKMARK', 'ADDED']);
  });

  test('a reaction can refuse a call, or lose the response to one that took effect', async () => {
    const client = new RecordingClient();
    const restore = client.before('create', () => {
      throw apiError(500, 'InternalError');
    });
    await expect(client.create(ConfigMaps, { metadata: { namespace: 'a', name: 'x' } }, signal)).rejects.toThrow();
    restore();
    client.after('create', () => {
      throw new Error('lost');
    });
    await expect(client.create(ConfigMaps, { metadata: { namespace: 'a', name: 'x' } }, signal)).rejects.toThrow(
      'lost',
    );
    expect(client.stored(ConfigMaps)).toHaveLength(1);
  });

  const owners = [{ apiVersion: 'v1', kind: 'Pod', name: 'o', uid: '1' }];
  const patches: { name: string; patch: Patch; expected: object }[] = [
    {
      name: 'a merge patch replaces lists and removes nulls',
      patch: { type: 'merge', body: { metadata: { ownerReferences: [], labels: null } } },
      expected: { namespace: 'a', name: 'x', ownerReferences: [] },
    },
    {
      name: 'a strategic patch removes one owner by uid',
      patch: { type: 'strategic', body: { metadata: { ownerReferences: [{ $patch: 'delete', uid: '1' }] } } },
      expected: { ownerReferences: [] },
    },
    {
      name: 'a strategic patch adds an owner beside the others',
      patch: { type: 'strategic', body: { metadata: { ownerReferences: [{ uid: '2', name: 'p' }] } } },
      expected: { ownerReferences: [...owners, { uid: '2', name: 'p' }] },
    },
    {
      name: 'a json patch changes what its path names',
      patch: { type: 'json', body: [{ op: 'add', path: '/metadata/labels/a~1b', value: 'c' }] },
      expected: { labels: { l: '1', 'a/b': 'c' } },
    },
  ];
  for (const { name, patch, expected } of patches) {
    test(name, async () => {
      const client = new RecordingClient();
      const metadata = { namespace: 'a', name: 'x', labels: { l: '1' }, ownerReferences: owners };
      client.seed(ConfigMaps, { metadata });
      expect((await client.patch(ConfigMaps, keyOf({ metadata }), patch, signal)).metadata).toMatchObject(expected);
    });
  }
});
