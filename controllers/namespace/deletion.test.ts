import { describe, expect, test } from 'vitest';

import {
  ConfigMaps,
  Namespaces,
  objectKey,
  Pods,
  resourceName,
  Secrets,
  type Kind,
  type Namespace,
  type NamespaceCondition,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { ConnectionError, type DiscoveredResource, type DiscoveryResult } from '../../pkg/client/index.ts';
import { container } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { isToBeDeleted, selectDeletable } from './apply-content.ts';
import { createNamespaceController } from './namespace.ts';

const allVerbs = ['list', 'delete', 'deletecollection'];
const resource = (kind: Kind, verbs: readonly string[] = allVerbs): DiscoveredResource => ({
  kind,
  verbs: new Set(verbs),
});

const going = (fields: Partial<Namespace> = {}): Unsaved<Namespace> => ({
  metadata: { name: 'team', deletionTimestamp: '2026-01-01T00:00:00Z', ...fields.metadata },
  spec: { finalizers: ['kubernetes'], ...fields.spec },
  status: { phase: 'Terminating', ...fields.status },
});

interface Scene extends TestContext {
  readonly discovered: { resources: DiscoveredResource[]; failures: Map<string, string> };
}

function setUp(resources: DiscoveredResource[], namespace: Unsaved<Namespace> = going()): Scene {
  const test = createTestContext();
  const discovered = { resources, failures: new Map<string, string>() };
  const preferred = (): Promise<DiscoveryResult> => Promise.resolve(discovered);
  const discovery = { ...test.context.discovery, preferred, refresh: () => Promise.resolve() };
  test.server.seed(Namespaces, namespace);
  return { ...test, context: { ...test.context, discovery }, discovered };
}

const options = { workers: 1, resyncMs: 0, deletionGraceMs: 5000 };

/** Runs the controller from the deletion of the namespace to the end of its first pass. */
async function run(scene: Scene, use: () => Promise<void>): Promise<void> {
  const controller = createNamespaceController(scene.context, options);
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(5000);
    await settle();
    await use();
  });
}

const calls = ({ client }: Scene): string[] =>
  client.actions
    .filter(({ verb }) => verb !== 'get')
    .map(({ verb, resource: name, subresource, key }) => [verb, name, subresource, key].filter(Boolean).join(' '));
const conditions = ({ server }: Scene): readonly NamespaceCondition[] =>
  server.stored(Namespaces)[0]?.status?.conditions ?? [];
const troubles = (scene: Scene): string[] =>
  conditions(scene)
    .filter(({ status }) => status === 'True')
    .map(({ reason, message }) => `${reason}: ${message}`);

describe('a namespace that is being deleted', () => {
  test('is left alone until other servers have heard of it', async () => {
    const scene = setUp([resource(ConfigMaps)]);
    const controller = createNamespaceController(scene.context, options);
    await whileRunning(scene, controller, async () => {
      await scene.clock.advance(4999);
      await settle();
      expect(scene.client.actions).toEqual([]);
    });
  });

  test('is emptied at once if there is no other server', async () => {
    const scene = setUp([resource(ConfigMaps)]);
    const controller = createNamespaceController(scene.context, { ...options, deletionGraceMs: 0 });
    await whileRunning(scene, controller, async () => {
      await scene.clock.advance(1);
      await settle();
      expect(scene.server.stored(Namespaces)).toEqual([]);
    });
  });

  test('is emptied and finalized', async () => {
    const scene = setUp([resource(ConfigMaps), resource(Secrets)]);
    scene.server.seed(ConfigMaps, { metadata: { namespace: 'team', name: 'a' } });
    scene.server.seed(ConfigMaps, { metadata: { namespace: 'other', name: 'b' } });
    await run(scene, async () => {
      expect(scene.server.stored(ConfigMaps).map(({ metadata }) => metadata.namespace)).toEqual(['other']);
      expect(calls(scene)).toEqual([
        'list configmaps',
        'list secrets', // nothing there: nothing to delete
        'deleteCollection configmaps',
        'list configmaps',
        'update namespaces finalize team',
      ]);
      expect(scene.server.stored(Namespaces)).toEqual([]);
    });
  });

  test('is marked as such first', async () => {
    const scene = setUp([], going({ status: { phase: 'Active' } }));
    await run(scene, async () => {
      expect(calls(scene)).toEqual(['update namespaces status team', 'update namespaces finalize team']);
    });
  });

  test('loses its pods first, and the rest when they have gone', async () => {
    const scene = setUp([resource(ConfigMaps), resource(Pods)]);
    const metadata = { namespace: 'team', name: 'p', deletionGracePeriodSeconds: 30 };
    const held = { ...metadata, deletionTimestamp: '2026-01-01T00:00:30Z', finalizers: ['x'] };
    scene.server.seed(Pods, { metadata: held, spec: { containers: [container()] } });
    scene.server.seed(ConfigMaps, { metadata: { namespace: 'team', name: 'a' } });
    await run(scene, async () => {
      expect(scene.server.stored(ConfigMaps)).toHaveLength(1);
      const { uid, resourceVersion } = scene.server.stored(Pods)[0]?.metadata ?? {};
      expect(uid).toBeDefined();
      const body = { metadata: { finalizers: null, resourceVersion } };
      await scene.server.patch(Pods, objectKey('team', 'p'), { type: 'merge', body }, new AbortController().signal);
      await scene.clock.advance(500);
      await settle();
      expect([scene.server.stored(ConfigMaps), scene.server.stored(Namespaces)]).toEqual([[], []]);
    });
  });

  const late = apiError(504, 'Timeout', 'took too long');
  const hungUp = new ConnectionError('hung up', { mayHaveBeenSent: true });
  const cutShort = [
    {
      name: 'continues with its pods when the server could not delete all of them in time',
      error: late,
      deletesOne: true,
    },
    { name: 'continues with its pods when the connection was lost', error: hungUp, deletesOne: true },
    { name: 'loses the rest when the server could delete no pod in time', error: late, deletesOne: false },
  ];
  for (const { name, error, deletesOne } of cutShort) {
    test(name, async () => {
      const scene = setUp([resource(ConfigMaps), resource(Pods)]);
      for (const pod of ['p', 'q']) {
        scene.server.seed(Pods, { metadata: { namespace: 'team', name: pod }, spec: { containers: [container()] } });
      }
      scene.server.seed(ConfigMaps, { metadata: { namespace: 'team', name: 'a' } });
      const stop = scene.client.before('deleteCollection', async ({ resource: name }) => {
        if (name !== resourceName(Pods)) return;
        if (deletesOne) await scene.server.delete(Pods, objectKey('team', 'p'), {}, new AbortController().signal);
        throw error;
      });
      await run(scene, async () => {
        expect(scene.server.stored(ConfigMaps)).toHaveLength(deletesOne ? 1 : 0);
        const failure = 'ContentDeletionFailed: Failed to delete all resource types, 1 remaining: took too long';
        expect(troubles(scene).filter((trouble) => trouble.startsWith('ContentDeletionFailed'))).toEqual(
          deletesOne ? [] : [failure],
        );
        stop();
        await scene.clock.advance(1000);
        await settle();
        expect([scene.server.stored(ConfigMaps), scene.server.stored(Namespaces)]).toEqual([[], []]);
      });
    });
  }

  const withoutCollection = [
    { name: 'that has no such verb', verbs: ['list', 'delete'], refuse: false },
    { name: 'whose server does not know it after all', verbs: allVerbs, refuse: true },
  ];
  for (const { name, verbs, refuse } of withoutCollection) {
    test(`deletes object by object without deletecollection: a resource ${name}`, async () => {
      const scene = setUp([resource(ConfigMaps, verbs)]);
      scene.server.seed(ConfigMaps, { metadata: { namespace: 'team', name: 'a' } });
      const { uid } = scene.server.seed(ConfigMaps, { metadata: { namespace: 'team', name: 'b' } }).metadata;
      if (refuse) {
        scene.client.before('deleteCollection', () => {
          throw apiError(405, 'MethodNotAllowed');
        });
      }
      await run(scene, async () => {
        expect(scene.server.stored(ConfigMaps)).toEqual([]);
        expect(scene.client.writes.find(({ key }) => key === 'team/b')?.body).toEqual({
          propagationPolicy: 'Background',
          preconditions: { uid },
        });
      });
    });
  }

  test('deletes resources that cannot be listed', async () => {
    const scene = setUp([resource(ConfigMaps, ['delete', 'deletecollection'])]);
    scene.server.seed(ConfigMaps, { metadata: { namespace: 'team', name: 'a' } });
    await run(scene, async () => {
      expect(calls(scene)).toEqual(['deleteCollection configmaps', 'update namespaces finalize team']);
    });
  });

  test('stays because of one resource that cannot be deleted, and the others are deleted', async () => {
    const scene = setUp([resource(Secrets), resource(ConfigMaps)]);
    scene.server.seed(Secrets, { metadata: { namespace: 'team', name: 'a' } });
    scene.server.seed(ConfigMaps, { metadata: { namespace: 'team', name: 'a' } });
    const stop = scene.client.before('deleteCollection', ({ resource: name }) => {
      if (name === resourceName(Secrets)) throw apiError(403, 'Forbidden', 'secrets are ours');
    });
    await run(scene, async () => {
      expect(scene.server.stored(ConfigMaps)).toEqual([]);
      expect(troubles(scene)).toEqual([
        'ContentDeletionFailed: Failed to delete all resource types, 1 remaining: secrets are ours',
      ]);
      stop();
      await scene.clock.advance(1000);
      await settle();
      expect(scene.server.stored(Namespaces)).toEqual([]);
    });
  });

  test('stays while discovery of a group fails, and known resources are deleted', async () => {
    const scene = setUp([resource(ConfigMaps)]);
    scene.server.seed(ConfigMaps, { metadata: { namespace: 'team', name: 'a' } });
    scene.discovered.failures.set('x.example/v1', 'stale');
    await run(scene, async () => {
      expect(scene.server.stored(ConfigMaps)).toEqual([]);
      expect(troubles(scene)).toHaveLength(1);
      scene.discovered.failures.clear();
      await scene.clock.advance(1000);
      await settle();
      expect(scene.server.stored(Namespaces)).toEqual([]);
    });
  });

  test('is not requeued by its own status writes', async () => {
    const scene = setUp([resource(ConfigMaps)]);
    const metadata = { namespace: 'team', name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x'] };
    scene.server.seed(ConfigMaps, { metadata });
    await run(scene, async () => {
      expect(troubles(scene)).toHaveLength(2);
      expect(calls(scene)).toEqual(['list configmaps', 'list configmaps', 'update namespaces status team']);
    });
  });

  test('with another finalizer shows no resolved errors', async () => {
    const remaining = { type: 'NamespaceContentRemaining', status: 'True' };
    const fields = { spec: { finalizers: ['kubernetes', 'example.com/x'] }, status: { conditions: [remaining] } };
    const scene = setUp([], going(fields));
    await run(scene, async () => {
      expect(calls(scene)).toEqual(['update namespaces status team', 'update namespaces finalize team']);
      expect(conditions(scene).map(({ status }) => status)).toEqual(['False', 'False', 'False', 'False', 'False']);
    });
  });
});

describe('isToBeDeleted', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const rows = [
    { name: 'an object that is not terminating', metadata: {}, expected: true },
    { name: 'not a terminating object', metadata: { deletionTimestamp }, expected: false },
    {
      name: 'not a terminating object with another finalizer',
      metadata: { deletionTimestamp, finalizers: ['x'] },
      expected: false,
    },
    {
      name: 'an object in foreground deletion',
      metadata: { deletionTimestamp, finalizers: ['foregroundDeletion'] },
      expected: true,
    },
    {
      name: 'an object that orphans its dependents',
      metadata: { deletionTimestamp, finalizers: ['orphan'] },
      expected: true,
    },
  ];
  for (const { name, metadata, expected } of rows) {
    test(name, () => {
      const meta = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: deletionTimestamp, ...metadata };
      expect(isToBeDeleted({ metadata: meta })).toBe(expected);
    });
  }
});

test('selectDeletable selects namespaced resources that can be deleted, pods separately, and reports group versions that cannot be parsed', () => {
  const odd: Kind = { ...ConfigMaps, group: 'a', version: 'b/c' };
  const others = [resource(Secrets), resource({ ...Pods, group: 'metrics.k8s.io' })];
  const never = [resource(Namespaces), resource(ConfigMaps, ['list', 'get'])];
  expect(selectDeletable([...never, ...others, resource(Pods), resource(odd)])).toEqual({
    pods: [resource(Pods)],
    others,
    unparsable: ['a/b/c'],
  });
});
