import { describe, expect, test } from 'vitest';

import {
  ConfigMaps,
  CustomResourceDefinitions,
  defineKind,
  findCondition,
  objectKey,
  StorageVersionMigrations,
  type CustomResourceDefinition,
  type Kind,
  type StorageVersionMigration,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import { ApiError } from '../../pkg/client/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createStorageVersionMigrator } from './storage-version-migrator.ts';

const signal = new AbortController().signal;
const Widgets = defineKind<UntypedObject>({
  group: 'example.com',
  version: 'v2',
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
});
const all = ['list', 'patch', 'update'];
const key = (name: string) => objectKey(undefined, name);

interface Served {
  kind: Kind;
  verbs: readonly string[];
}

/** Runs the controller on a server that serves these resources besides migrations. */
async function run(test: TestContext, served: readonly Served[], use: () => Promise<void>): Promise<void> {
  const answer = async () => ({
    resources: [{ kind: StorageVersionMigrations, verbs: all }, ...served].map(({ kind, verbs }) => ({
      kind,
      verbs: new Set(verbs),
    })),
    failures: new Map<string, string>(),
  });
  const discovery = { ...test.context.discovery, refresh: async () => undefined, all: answer, preferred: answer };
  await whileRunning(test, createStorageVersionMigrator({ ...test.context, discovery }), use);
}

function ask({ server }: TestContext, name: string, { group, resource }: Pick<Kind, 'group' | 'resource'>): void {
  server.seed(StorageVersionMigrations, { metadata: { name }, spec: { resource: { group, resource } } });
}

const stored = ({ server }: TestContext, name: string): StorageVersionMigration | undefined =>
  server.stored(StorageVersionMigrations).find(({ metadata }) => metadata.name === name);

const conditionsOf = (test: TestContext, name: string): string[] =>
  (stored(test, name)?.status?.conditions ?? []).map(({ type, status, message }) => `${type}=${status} ${message}`);

const isRewrite = ({ verb, subresource }: { verb: string; subresource?: string }): boolean =>
  verb === 'patch' && subresource === undefined;

const widgets = [{ kind: Widgets, verbs: all }];
const done = ['Running=False Migration completed', 'Succeeded=True '];

describe('the migrator', () => {
  test('writes each old object anew, and says how that ended', async () => {
    const context = createTestContext({ freeze: true });
    const object = context.server.seed(Widgets, { metadata: { namespace: 'a', name: 'old' } });
    ask(context, 'move', Widgets);
    await run(context, widgets, async () => {
      expect(conditionsOf(context, 'move')).toEqual(done);
      const { uid, resourceVersion } = object.metadata;
      const body = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { uid, resourceVersion } };
      expect(context.client.writes.filter(isRewrite)).toEqual([
        {
          verb: 'patch',
          resource: 'widgets.example.com',
          key: 'a/old',
          body: { type: 'apply', body, fieldManager: 'storage-version-migrator-controller' },
        },
      ]);
    });
  });

  test('tells the definition of a custom resource when a migration begins and ends', async () => {
    const context = createTestContext();
    context.server.seed(CustomResourceDefinitions, {
      metadata: { name: 'widgets.example.com', generation: 1 },
      spec: { versions: [{ name: 'v1' }, { name: 'v2', storage: true }] },
      status: { storedVersions: ['v1', 'v2'] },
    } as unknown as CustomResourceDefinition);
    ask(context, 'move', Widgets);
    await run(context, widgets, async () => {
      const [definition] = context.server.stored(CustomResourceDefinitions);
      expect(definition?.status?.storedVersions).toEqual(['v2']);
      expect(findCondition(definition?.status?.conditions, 'StorageMigrating')).toMatchObject({ status: 'False' });
      const order = context.client.writes.map(({ verb, resource }) => `${verb} ${resource.split('.')[0]}`);
      const status = 'update storageversionmigrations';
      const definitions = 'patch customresourcedefinitions';
      expect(order).toEqual([definitions, status, status, status, definitions, status]);
    });
  });

  test('runs the migrations of a resource one after another', async () => {
    const context = createTestContext();
    for (const name of ['first', 'second']) ask(context, name, Widgets);
    await run(context, widgets, async () => {
      expect(conditionsOf(context, 'first')).toEqual(done);
      expect(conditionsOf(context, 'second')).toEqual(done);
      const written = context.client.writes.map(({ key: name }) => name);
      expect(written.indexOf(key('second'))).toBeGreaterThan(written.lastIndexOf(key('first')));
    });
  });

  const skipped = [
    { name: 'has changed', error: apiError(409, 'Conflict') },
    { name: 'is gone with its namespace', error: apiError(404, 'NotFound') },
    {
      name: 'is gone from a namespace that is being deleted',
      error: new ApiError('patch', {
        code: 403,
        reason: 'Forbidden',
        details: { causes: [{ reason: 'NamespaceTerminating' }] },
      }),
    },
  ];
  for (const { name, error } of skipped) {
    test(`goes on after an object that ${name}`, async () => {
      const context = createTestContext();
      for (const each of ['one', 'two']) context.server.seed(Widgets, { metadata: { namespace: 'a', name: each } });
      ask(context, 'move', Widgets);
      context.client.before('patch', ({ key: at }) => {
        if (at === 'a/one') throw error;
      });
      await run(context, widgets, async () => {
        expect(conditionsOf(context, 'move')).toEqual(done);
        expect(context.client.writes.filter(isRewrite).map(({ key: at }) => at)).toEqual(['a/one', 'a/two']);
      });
    });
  }

  test('fails at an error that will stay', async () => {
    const context = createTestContext();
    context.server.seed(Widgets, { metadata: { namespace: 'a', name: 'one' } });
    ask(context, 'move', Widgets);
    context.client.before('patch', ({ subresource }) => {
      if (subresource === undefined)
        throw new ApiError('patch', { code: 422, reason: 'Invalid', message: 'not today' });
    });
    await run(context, widgets, async () => {
      expect(conditionsOf(context, 'move')).toEqual([
        'Running=False Migration completed',
        'Failed=True migration encountered unhandled error: not today',
      ]);
    });
  });

  test('tries again after an error that may pass, and leaves those alone that were written since', async () => {
    const context = createTestContext();
    for (const name of ['one', 'two']) context.server.seed(Widgets, { metadata: { namespace: 'a', name } });
    ask(context, 'move', Widgets);
    let failures = 1;
    context.client.before('patch', ({ key: at }) => {
      if (at === 'a/two' && failures-- > 0) throw apiError(500, 'InternalError');
    });
    await run(context, widgets, async () => {
      await context.server.patch(Widgets, objectKey('a', 'one'), { type: 'merge', body: { x: 1 } }, signal);
      await context.clock.advance(1000);
      await settle();
      expect(conditionsOf(context, 'move')).toEqual(done);
      expect(context.client.writes.filter(isRewrite).map(({ key: at }) => at)).toEqual(['a/one', 'a/two', 'a/two']);
    });
  });

  test('refuses a resource that cannot be written', async () => {
    const context = createTestContext();
    ask(context, 'move', ConfigMaps);
    await run(context, [{ kind: ConfigMaps, verbs: ['list'] }], async () => {
      expect(conditionsOf(context, 'move')).toEqual([
        'Running=False Migration completed',
        'Failed=True resource "/v1, Resource=configmaps" does not support discovery operations: [update patch list]',
      ]);
    });
  });

  test('gives a resource a minute to appear', async () => {
    const context = createTestContext();
    const served: Served[] = [];
    for (const resource of ['widgets', 'nothings']) ask(context, resource, { group: 'example.com', resource });
    await run(context, served, async () => {
      expect(conditionsOf(context, 'widgets')).toEqual(['Running=True The migration is running']);
      served.push(...widgets);
      await context.clock.advance(2000);
      await settle();
      expect(conditionsOf(context, 'widgets')).toEqual(done);
      for (let round = 0; round < 31; round++) await context.clock.advance(2000);
      await settle();
      expect(conditionsOf(context, 'nothings')).toEqual([
        'Running=False Migration completed',
        'Failed=True resource does not exist in discovery',
      ]);
    });
  });

  test('does nothing where migrations are not served', async () => {
    const context = createTestContext();
    ask(context, 'move', Widgets);
    const discovery = {
      ...context.context.discovery,
      refresh: async () => undefined,
      all: async () => ({ resources: [], failures: new Map<string, string>() }),
    };
    await whileRunning(context, createStorageVersionMigrator({ ...context.context, discovery }), async () => {
      expect(context.client.writes).toEqual([]);
      expect(context.server.actions).toEqual([]);
    });
  });
});
