import { expect, test } from 'vitest';

import { Leases, objectKey, StorageVersions, type StorageVersion, type Unsaved } from '../../pkg/api/index.ts';
import { lease } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createStorageVersionCollector } from './storage-version-collector.ts';

const signal = new AbortController().signal;

function addServer(
  { server }: TestContext,
  name: string,
  labels: Record<string, string> = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' },
): void {
  server.seed(Leases, lease({ namespace: 'kube-system', name, metadata: { labels } }));
}

const version = (name: string, ...servers: string[]): Unsaved<StorageVersion> => ({
  metadata: { name },
  spec: {},
  status: {
    storageVersions: servers.map((apiServerID) => ({ apiServerID, encodingVersion: 'v1', decodableVersions: ['v1'] })),
  },
});

const records = ({ server }: TestContext): string[] =>
  server
    .stored(StorageVersions)
    .map(({ metadata, status }) =>
      [metadata.name, ...(status?.storageVersions ?? []).map(({ apiServerID }) => apiServerID)].join(' '),
    );

async function run(test: TestContext, use: () => Promise<void>, isServed = true): Promise<void> {
  const discovery = {
    ...test.context.discovery,
    refresh: async () => undefined,
    all: async () => ({
      resources: isServed ? [{ kind: StorageVersions, verbs: new Set<string>() }] : [],
      failures: new Map<string, string>(),
    }),
  };
  await whileRunning(test, createStorageVersionCollector({ ...test.context, discovery }), use);
}

test('records of servers without a lease are removed', async () => {
  const context = createTestContext({ freeze: true });
  addServer(context, 'here');
  addServer(context, 'stranger', { 'apiserver.kubernetes.io/identity': 'other' });
  context.server.seed(StorageVersions, version('good', 'here'));
  context.server.seed(StorageVersions, version('mixed', 'here', 'gone', 'stranger'));
  context.server.seed(StorageVersions, version('stale', 'gone'));
  await run(context, async () => {
    expect(records(context)).toEqual(['good here', 'mixed here']);
    expect(context.client.writes).toMatchObject([
      { verb: 'update', subresource: 'status', key: 'mixed' },
      {
        verb: 'delete',
        key: 'stale',
        body: { preconditions: { uid: expect.any(String), resourceVersion: expect.any(String) } },
      },
    ]);
    await context.server.delete(Leases, objectKey('kube-system', 'here'), {}, signal);
    await settle();
    expect(records(context)).toEqual([]);
  });
});

test('a server whose lease cannot be read is not gone', async () => {
  const context = createTestContext();
  addServer(context, 'here');
  context.server.seed(StorageVersions, version('mixed', 'here', 'gone'));
  const stop = context.client.before('get', ({ key }) => {
    if (key === 'kube-system/here') throw apiError(500, 'InternalError');
  });
  await run(context, async () => {
    expect(records(context)).toEqual(['mixed here gone']);
    stop();
    await context.clock.advance(1000);
    await settle();
    expect(records(context)).toEqual(['mixed here']);
  });
});

test('the other objects are written when one cannot be, and that one later', async () => {
  const context = createTestContext();
  addServer(context, 'leaving');
  addServer(context, 'here');
  for (const name of ['one', 'two']) context.server.seed(StorageVersions, version(name, 'leaving', 'here'));
  await run(context, async () => {
    const stop = context.client.before('update', ({ key }) => {
      if (key !== 'one') return;
      stop();
      throw apiError(409, 'Conflict');
    });
    // A write follows the event of the deletion, and then the object is one with an unknown server.
    await context.server.delete(Leases, objectKey('kube-system', 'leaving'), {}, signal);
    await settle();
    expect(records(context)).toContain('two here');
    await context.clock.advance(1000);
    await settle();
    expect(records(context)).toEqual(['one here', 'two here']);
  });
});

test('nothing is watched where StorageVersions are not served', async () => {
  const context = createTestContext();
  await run(context, async () => expect(context.server.actions).toEqual([]), false);
});
