import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';

import {
  ConfigMaps,
  Deployments,
  Namespaces,
  objectKey,
  Secrets,
  Services,
  type Cached,
  type Deployment,
  type Kind,
  type KubeObject,
  type Service,
} from '../api/index.ts';
import { ApiError } from '../client/index.ts';
import { TerminalError } from '../controller/index.ts';
import { defineIndex } from '../../informers/index.ts';
import { build, configMap, deployment, secret, service } from '../../test/support/builders.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { simulate } from '../../test/support/simulate.ts';
import { conditionsSchema } from './conditions.ts';
import { controllerFor, type ControllerOptions } from './controller.ts';
import { DefinitionError } from './definition-error.ts';
import { annotationsChanged, anyOf, generationChanged, labelsChanged, type Predicate } from './predicates.ts';
import { fromCrd } from './from-crd.ts';
import { manifestsOf } from './manifests.ts';
import { defineResource } from './resource.ts';
import { watch } from './watch.ts';

const widget = { group: 'example.com', version: 'v1', kind: 'Widget', spec: z.object({}) };
const Widgets = defineResource(widget);
const Teams = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Team',
  spec: z.object({}),
  otherVersions: [{ version: 'v1beta1', spec: z.object({}) }],
});

/** Counts the reconciles of a controller of Deployments. */
function counted(options: Partial<ControllerOptions<Deployment>> = {}) {
  const seen: Cached<Deployment>[] = [];
  const controller = controllerFor(Deployments, {
    name: 'test',
    async reconcile(object) {
      seen.push(object);
    },
    ...options,
  });
  return { controller, seen };
}

describe('a controller', () => {
  test('may read only kinds that it names, and own only those that it watches', async () => {
    const errors: unknown[] = [];
    const { controller } = counted({
      async reconcile(_, { store, ensure }) {
        try {
          store(Secrets);
        } catch (error) {
          errors.push(error);
        }
        try {
          store({ ...Deployments, version: 'v1beta1' });
        } catch (error) {
          errors.push(error);
        }
        await ensure(Services, { metadata: { name: 'a' }, spec: {} }).catch((error: unknown) => errors.push(error));
      },
    });
    await using _ = await simulate(controller, [deployment()]);
    expect(errors.map(String)).toEqual([
      'DefinitionError: test does not watch Secret: add it to owns, watches or reads',
      'DefinitionError: test watches Deployment in version v1, not v1beta1',
      'DefinitionError: test: add Service to owns, or changes of it go unnoticed',
    ]);
  });

  test('reconciles the objects that a watched one maps to, before and after a change', async () => {
    const byConfig = defineIndex<Deployment>('config', ({ metadata }) => [metadata.labels?.['config'] ?? '']);
    const { controller, seen } = counted({
      indexes: [byConfig],
      watches: [
        watch(ConfigMaps, { map: ({ metadata }, { store }) => store(Deployments).byIndex(byConfig, metadata.name) }),
      ],
    });
    const [a, b] = ['a', 'b'].map((name) => deployment({ name, labels: { config: name } }));
    await using run = await simulate(
      controller,
      [a, b, configMap({ name: 'b' })].filter((each) => each !== undefined),
    );
    seen.splice(0);
    await run.client.patch(ConfigMaps, { namespace: 'default', name: 'b' }, { data: { x: '1' } });
    await run.settle();
    expect(seen.map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  test('learns of deletions of owned and watched objects, whatever their predicates say', async () => {
    const when = (): boolean => false;
    const { controller, seen } = counted({
      owns: [watch(Services, { when })],
      watches: [watch(ConfigMaps, { when, map: ({ metadata: { namespace } }) => [{ namespace, name: 'deployment' }] })],
    });
    const owned = service({ owner: { kind: Deployments, object: deployment() } });
    await using run = await simulate(controller, [deployment(), owned, configMap()]);
    expect(seen).toHaveLength(1);
    await run.client.delete(Services, owned);
    await run.settle();
    expect(seen).toHaveLength(2);
    await run.client.delete(ConfigMaps, configMap());
    await run.settle();
    expect(seen).toHaveLength(3);
  });

  test('reads caches by key, by reference and by object', async () => {
    const found: unknown[] = [];
    const errors: unknown[] = [];
    const { controller } = counted({
      reads: [Secrets, Namespaces],
      async reconcile(object, { store }) {
        const [namespace, name] = ['default', 'a'];
        const refs = [objectKey(namespace, name), { namespace, name }, secret({ name }), { namespace, name: 'b' }];
        found.push(...refs.map((ref) => store(Secrets).get(ref)?.metadata.name), store(Deployments).get(object));
        for (const wrong of [() => store(Secrets).get({ name }), () => store(Namespaces).get({ namespace, name })]) {
          try {
            wrong();
          } catch (error) {
            errors.push(error);
          }
        }
      },
    });
    await using _ = await simulate(controller, [deployment(), secret({ name: 'a' })]);
    expect(found).toEqual(['a', 'a', 'a', undefined, expect.objectContaining({ kind: 'Deployment' })]);
    expect(errors.map(String)).toEqual([
      'DefinitionError: the store: a names no Secret, which is namespaced, and the reference has no namespace',
      'DefinitionError: the store: default/a names no Namespace, which is not namespaced',
    ]);
  });

  test.for([
    { primary: Deployments, ref: { name: 'a' }, why: 'a names no Deployment, which is namespaced' },
    {
      primary: Namespaces,
      ref: configMap({ name: 'a' }),
      why: 'default/a names no Namespace, which is not namespaced',
    },
  ])('reports a map with a reference of the wrong scope: $why', async ({ primary, ref, why }) => {
    const watches = [watch(ConfigMaps, { map: () => [ref] })];
    const controller = controllerFor<Kind>(primary, { name: 'test', watches, reconcile: async () => {} });
    await using run = await simulate(controller, [configMap()], { expectsErrors: true });
    expect(run.errors.map(({ error }) => error)).toEqual([expect.any(DefinitionError)]);
    expect(String(run.errors[0]?.error)).toContain(`test: the map of ConfigMap: ${why}`);
  });

  test('ignores changes that its predicate rejects', async () => {
    const { controller, seen } = counted({ when: anyOf(generationChanged, labelsChanged, annotationsChanged) });
    const object = deployment();
    await using run = await simulate(controller, [object]);
    const changes = [
      { change: { metadata: { finalizers: ['a/b'] } }, count: 1 },
      { change: { metadata: { annotations: { a: '1' } } }, count: 2 },
      { change: { metadata: { labels: { a: '1' } } }, count: 3 },
      { change: { spec: { replicas: 5 } }, count: 4 },
    ];
    for (const { change, count } of changes) {
      await run.client.patch(Deployments, object, change);
      await run.settle();
      expect(seen).toHaveLength(count);
    }
  });

  test('combines predicates of any object with those of its kind', async () => {
    const own: Predicate<Deployment> = labelsChanged;
    expectTypeOf(anyOf(own, generationChanged)).toEqualTypeOf<Predicate<Deployment>>();
    const { controller, seen } = counted({
      when: anyOf(labelsChanged, ({ spec }, before) => (spec.replicas ?? 0) > (before?.spec.replicas ?? 0)),
    });
    const object = deployment({ spec: { replicas: 2 } });
    await using run = await simulate(controller, [object]);
    for (const { replicas, count } of [
      { replicas: 1, count: 1 },
      { replicas: 3, count: 2 },
    ]) {
      await run.client.patch(Deployments, object, { spec: { replicas } });
      await run.settle();
      expect(seen).toHaveLength(count);
    }
  });

  test('waits for its own writes before it decides again', async () => {
    const { controller } = counted({
      owns: [Services],
      async reconcile({ metadata }, { owned, client }) {
        // Without the wait, the second reconcile would find no Service and make another.
        if (owned(Services).length > 0) return;
        const { name, namespace, uid } = metadata;
        const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true }];
        await client.create(Services, { metadata: { namespace, generateName: 'a-', ownerReferences }, spec: {} });
        await client.patch(Deployments, { metadata }, { metadata: { annotations: { done: 'true' } } });
      },
    });
    await using run = await simulate(controller, [deployment()]);
    await run.clock.advance(1000);
    await run.settle();
    expect(run.writes.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      'create services',
      'patch deployments.apps',
    ]);
  });

  test('retries an error, and not a terminal one', async () => {
    let failures = 0;
    const { controller } = counted({
      async reconcile({ metadata }) {
        failures += 1;
        throw metadata.name === 'bad' ? new TerminalError('never') : new Error('not now');
      },
    });
    await using run = await simulate(controller, [deployment({ name: 'bad' }), deployment({ name: 'later' })]);
    await run.clock.advance(100); // after 5, 10, 20 and 40 ms
    expect(failures).toBe(1 + 5);
  });

  test('cannot change cached objects', async () => {
    const errors: unknown[] = [];
    const { controller } = counted({
      async reconcile(object, { store }) {
        for (const each of [object, ...store(Deployments).list()]) {
          try {
            Object.assign(each.spec, { replicas: 9 });
          } catch (error) {
            errors.push(error);
          }
        }
      },
    });
    await using run = await simulate(controller, [deployment()]);
    expect(errors).toEqual([expect.any(TypeError), expect.any(TypeError)]);
    expect(run.writes).toEqual([]);
  });

  test('succeeds if the object is deleted while it is reconciled', async () => {
    let calls = 0;
    const { controller } = counted({
      async reconcile({ metadata }, { client, patchStatus }) {
        calls += 1;
        await client.raw.delete(Deployments, objectKey(metadata.namespace, metadata.name), {}, AbortSignal.any([]));
        await patchStatus({ replicas: 1 });
      },
    });
    await using run = await simulate(controller, [deployment()]);
    await run.clock.advance(1000);
    await run.settle();
    expect(calls).toBe(1);
  });

  test('retries if the kind has no status, which the server answers as if the object were gone', async () => {
    let calls = 0;
    const { controller } = counted({
      async reconcile({ metadata }) {
        calls += 1;
        const details = { name: metadata.name, group: 'apps', kind: 'deployments' };
        throw new ApiError('patch', { code: 404, reason: 'NotFound', message: 'not found', details });
      },
    });
    await using run = await simulate(controller, [deployment()]);
    await run.clock.advance(1000);
    await run.settle();
    expect(calls).toBeGreaterThan(1);
  });

  const Teams = defineResource({ ...widget, kind: 'Team', scope: 'Cluster' });
  test.for([
    { title: 'of the object itself', kind: ConfigMaps, object: configMap({ name: 'a' }), refused: 'default', calls: 1 },
    { title: 'of another object', kind: ConfigMaps, object: configMap({ name: 'a' }), refused: 'dying', calls: 4 },
    {
      title: 'with the name of a cluster-scoped object',
      kind: Teams,
      object: build(Teams, { name: 'dying' }, { spec: {} }),
      refused: 'dying',
      calls: 4,
    },
  ])('calls $calls times while the namespace $title is terminating', async ({ kind, object, refused, calls }) => {
    let made = 0;
    const controller = controllerFor<typeof kind>(kind, {
      name: 'test',
      async reconcile(_, { client }) {
        made += 1;
        await client.create(Secrets, { metadata: { namespace: refused, name: 'a' } });
      },
    });
    await using run = await simulate(controller);
    run.controllerClient.before('create', () => {
      const details = { causes: [{ reason: 'NamespaceTerminating' }] };
      throw new ApiError('create', { code: 403, reason: 'Forbidden', details }, { namespace: refused });
    });
    run.controllerClient.seed<KubeObject>(kind, object);
    await run.settle();
    await run.clock.advance(5 + 10 + 20);
    expect(made).toBe(calls);
  });

  test('reconciles again when it has asked for it', async () => {
    const times: number[] = [];
    const { controller } = counted({
      async reconcile(_, { now }) {
        times.push(now());
        return times.length === 1 ? { requeueAfterMs: 5000 } : {};
      },
    });
    await using run = await simulate(controller, [deployment()]);
    await run.clock.advance(10_000);
    await run.settle();
    expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 5000]);
  });

  test.for([{ requeueAfterMs: 0 }, { requeueAfterMs: -1 }])('is not reconciled again after %o', async (result) => {
    let calls = 0;
    const { controller } = counted({
      async reconcile() {
        calls += 1;
        return result;
      },
    });
    await using run = await simulate(controller, [deployment()]);
    await run.clock.advance(10_000);
    expect(calls).toBe(1);
  });

  test('is retried with back-off after a delay that is no number', async () => {
    let calls = 0;
    const { controller } = counted({
      async reconcile() {
        calls += 1;
        return { requeueAfterMs: Number.NaN };
      },
    });
    await using run = await simulate(controller, [deployment()], { expectsErrors: true });
    await run.clock.advance(5 + 10);
    expect(calls).toBe(3);
  });

  test.for([1, 2, 4])('reconciles %i objects at the same time, each once', async (workers) => {
    let running = 0;
    let most = 0;
    const release = Promise.withResolvers<void>();
    const seen: string[] = [];
    const { controller } = counted({
      workers,
      async reconcile({ metadata }) {
        running += 1;
        most = Math.max(most, running);
        await release.promise;
        seen.push(metadata.name);
        running -= 1;
      },
    });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const objects = names.map((name) => deployment({ name }));
    await using run = await simulate(controller, objects);
    release.resolve();
    await run.settle();
    expect(most).toBe(workers);
    expect(seen.toSorted()).toEqual(names);
  });

  test('retries each object after its own back-off, up to the longest', async () => {
    const times: number[] = [];
    const { controller } = counted({
      backoff: { baseMs: 100, maxMs: 300 },
      async reconcile({ metadata }, { now }) {
        if (metadata.name !== 'bad') return;
        times.push(now());
        if (times.length < 6) throw new Error('not now');
      },
    });
    await using run = await simulate(controller, [deployment({ name: 'bad' }), deployment({ name: 'good' })]);
    await run.clock.advance(5000);
    expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual([100, 200, 300, 300, 300]);
  });

  test.for([
    { retryRate: undefined, retries: 20 },
    { retryRate: { qps: 1, burst: 2 }, retries: 3 },
  ])('retries $retries objects within a second with the rate $retryRate', async ({ retryRate, retries }) => {
    const failed = new Set<string>();
    let retried = 0;
    const { controller } = counted({
      retryRate,
      async reconcile({ metadata: { name } }) {
        if (failed.has(name)) retried += 1;
        else throw new Error(`first of ${failed.add(name).size}`);
      },
    });
    const objects = Array.from({ length: 20 }, (_, index) => deployment({ metadata: { name: `web-${index}` } }));
    await using run = await simulate(controller, objects);
    await run.clock.advance(1000);
    await run.settle();
    expect(retried).toBe(retries);
  });

  test('reconciles at every resync', async () => {
    const { controller, seen } = counted({ resyncMs: 60_000 });
    await using run = await simulate(controller, [deployment()]);
    await run.clock.advance(60_000);
    await run.settle();
    expect(seen).toHaveLength(2);
  });
});

describe('patchStatus', () => {
  const Uploads = defineResource({
    ...widget,
    kind: 'Upload',
    spec: z.object({ hosts: z.array(z.string()) }),
    status: z.object({ seen: z.record(z.string(), z.int()), conditions: conditionsSchema }),
  });
  const stored = {
    type: 'Ready',
    status: 'True' as const,
    reason: 'Done',
    message: '',
    lastTransitionTime: '2025-01-01T00:00:00Z',
  };
  const status = { seen: { a: 1, b: 2 }, conditions: [stored, { ...stored, type: 'Old' }] };

  test('removes keys of a map and conditions', async () => {
    const controller = controllerFor(Uploads, {
      name: 'test',
      async reconcile({ spec }, { patchStatus }) {
        const seen = { a: spec.hosts.includes('a') ? 1 : null };
        await patchStatus({ seen, conditions: [{ type: 'Old', status: null }] });
      },
    });
    const object = build(Uploads, { name: 'x' }, { spec: { hosts: ['b'] }, status });
    await using run = await simulate(controller, [object]);
    const { status: after } = await run.client.get(Uploads, object);
    expect(after?.seen).toEqual({ b: 2 });
    expect(after?.conditions?.map(({ type }) => type)).toEqual(['Ready']);
    expect(run.writes).toHaveLength(1);
  });

  test('removes all conditions with null', async () => {
    const controller = controllerFor(Uploads, {
      name: 'test',
      reconcile: (_, { patchStatus }) => patchStatus({ conditions: null }),
    });
    const object = build(Uploads, { name: 'x' }, { spec: { hosts: [] }, status });
    await using run = await simulate(controller, [object]);
    expect((await run.client.get(Uploads, object)).status).toEqual({ seen: { a: 1, b: 2 } });
    expect(run.writes).toHaveLength(1);
  });

  test('sends no observed generation to a resource that does not keep it', async () => {
    const controller = controllerFor(Uploads, {
      name: 'test',
      reconcile: (_, { patchStatus }) =>
        patchStatus({ conditions: [{ type: 'Ready', status: 'True', reason: 'Done' }] }),
    });
    const object = build(Uploads, { name: 'x' }, { spec: { hosts: [] }, status });
    await using run = await simulate(controller, [object]);
    expect(run.writes).toEqual([]);
  });
});

describe('a finalizer', () => {
  const withFinalizer = (
    cleanup: ControllerOptions<Deployment>['reconcile'],
    when?: ControllerOptions<Deployment>['when'],
  ) => {
    const seen: string[] = [];
    return {
      seen,
      controller: controllerFor(Deployments, {
        name: 'test',
        finalizer: { name: 'example.com/test', cleanup },
        when,
        async reconcile({ metadata }) {
          seen.push(String(metadata.finalizers));
        },
      }),
    };
  };

  test('is added before the first reconcile, and removed after the clean-up', async () => {
    const cleaned: string[] = [];
    const { controller, seen } = withFinalizer(async ({ metadata }) => void cleaned.push(metadata.name));
    const object = deployment({ metadata: { finalizers: ['other/one'] } });
    await using run = await simulate(controller, [object]);
    expect(seen[0]).toBe('other/one,example.com/test');
    await run.client.delete(Deployments, object);
    await run.settle();
    expect(cleaned).toEqual(['deployment']);
    expect((await run.client.get(Deployments, object)).metadata.finalizers).toEqual(['other/one']);
  });

  test('is removed from an object that was deleted before the start, whatever the predicate says', async () => {
    const cleaned: string[] = [];
    const { controller } = withFinalizer(
      async ({ metadata }) => void cleaned.push(metadata.name),
      () => false,
    );
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const finalizers = ['example.com/test', 'other/one'];
    await using run = await simulate(controller, [deployment({ metadata: { finalizers, deletionTimestamp } })]);
    expect(cleaned).toEqual(['deployment']);
    expect((await run.client.get(Deployments, deployment())).metadata.finalizers).toEqual(['other/one']);
  });

  test('keeps the object while the clean-up fails or requeues', async () => {
    let calls = 0;
    const { controller } = withFinalizer(async () => {
      calls += 1;
      if (calls === 1) throw apiError(500, 'InternalError');
      return calls < 3 ? { requeueAfterMs: 1000 } : {};
    });
    await using run = await simulate(controller, [deployment()]);
    await run.client.delete(Deployments, deployment());
    await run.clock.advance(900);
    expect(await run.client.find(Deployments, deployment())).toBeDefined();
    await run.clock.advance(200);
    await run.settle();
    expect(await run.client.find(Deployments, deployment())).toBeUndefined();
  });
});

test('a finalizer stays if the clean-up asks to be called again after no time', async () => {
  let calls = 0;
  const { controller } = counted({
    finalizer: {
      name: 'example.com/test',
      async cleanup() {
        calls += 1;
        return calls < 3 ? { requeueAfterMs: 0 } : {};
      },
    },
  });
  await using run = await simulate(controller, [deployment()], { expectsErrors: true });
  await run.client.delete(Deployments, deployment());
  await run.settle();
  expect(await run.client.find(Deployments, deployment())).toBeDefined();
  await run.clock.advance(5 + 10);
  expect(calls).toBe(3);
  expect(await run.client.find(Deployments, deployment())).toBeUndefined();
});

describe('own writes outside of a selection', () => {
  const labels = { app: 'x' };
  const written = (options: Partial<ControllerOptions<Deployment>>) => counted(options).controller;

  test('delay no reconcile', async () => {
    const replicas: unknown[] = [];
    const controller = written({
      owns: [watch(Secrets, { labelSelector: 'app=x' })],
      async reconcile({ spec }, { client }) {
        replicas.push(spec.replicas);
        await client.apply(Secrets, { metadata: { namespace: 'default', name: 'a', labels: { app: 'y' } } });
      },
    });
    await using run = await simulate(controller, [deployment()]);
    await run.client.patch(Deployments, deployment(), { spec: { replicas: 2 } });
    await run.settle();
    expect(replicas).toEqual([1, 2]);
  });

  test('are awaited if they end the selection of an object', async () => {
    const seen: unknown[] = [];
    const controller = written({
      owns: [watch(Secrets, { labelSelector: 'app=x' })],
      async reconcile(_, { client, store }) {
        const [found] = store(Secrets).list();
        seen.push(found?.metadata.name);
        if (found !== undefined) await client.patch(Secrets, found, { metadata: { labels: { app: 'y' } } });
      },
    });
    const owner = { kind: Deployments, object: deployment() };
    await using _ = await simulate(controller, [deployment(), secret({ name: 'a', labels, owner })]);
    expect(seen).toEqual(['a', undefined]);
  });

  test.for([
    { labelSelector: 'app=x', metadata: { name: 'a' }, says: 'it lacks the label app=x of the selection' },
    { fieldSelector: 'type=Opaque', metadata: { name: 'a' }, says: 'its field type is example.com/x' },
    { labelSelector: 'app=x', metadata: { name: 'a', labels }, says: undefined },
  ])('are refused by ensure: $says', async ({ metadata, says, ...selection }) => {
    const errors: unknown[] = [];
    const controller = written({
      owns: [watch(Secrets, selection)],
      async reconcile(_, { ensure }) {
        await ensure(Secrets, { metadata, type: 'example.com/x' }).catch((error: unknown) => errors.push(error));
      },
    });
    await using run = await simulate(controller, [deployment()]);
    expect(run.writes).toHaveLength(says === undefined ? 1 : 0);
    expect(errors.filter((error) => error instanceof DefinitionError)).toHaveLength(says === undefined ? 0 : 1);
    expect(String(errors)).toContain(says ?? '');
  });
});

describe('ensure', () => {
  const name = 'web';
  const controller = controllerFor(Deployments, {
    name: 'test',
    owns: [Services],
    async reconcile({ metadata }, { ensure }) {
      await ensure(Services, { metadata: { name, labels: metadata.labels }, spec: { type: 'ClusterIP' } });
    },
  });
  const read = { namespace: 'default', name };

  test('creates, then costs nothing, then repairs', async () => {
    await using run = await simulate(controller, [deployment()]);
    expect(run.writes.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['patch services']);
    await run.client.patch(Deployments, deployment(), { spec: { replicas: 9 } });
    await run.settle();
    expect(run.writes).toHaveLength(1);
    await run.client.patch(Services, read, { spec: { type: 'NodePort' } });
    await run.settle();
    expect((await run.client.get(Services, read)).spec.type).toBe('ClusterIP');
    await run.client.delete(Services, read);
    await run.settle();
    expect(await run.client.find(Services, read)).toBeDefined();
  });

  test('adopts no object that its cache has not observed', async () => {
    await using run = await simulate(controller);
    let isFirst = true;
    run.controllerClient.before('get', async () => {
      if (!isFirst) return;
      isFirst = false;
      await run.client.create(Services, service({ name, metadata: { resourceVersion: '' } }));
    });
    await run.client.create(Deployments, deployment({ metadata: { resourceVersion: '' } }));
    await run.settle();
    expect(run.writes).toEqual([]);
    expect(run.events[0]).toMatchObject({ reason: 'ErrResourceExists', object: 'default/deployment' });
  });
});

test('rules allow what the controller does, and no more', () => {
  const { rules, kinds } = controllerFor(Deployments, {
    name: 'test',
    owns: [Services],
    watches: [watch(Secrets, { map: () => [] })],
    finalizer: { name: 'example.com/test', cleanup: async () => {} },
    reconcile: async () => {},
  });
  expect(kinds.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'Secret']);
  expect(rules.map(({ resources, verbs }) => `${resources.join()}: ${verbs.join()}`)).toEqual([
    'deployments: get,list,watch,patch',
    'services: get,list,watch,create,patch,delete',
    'secrets: get,list,watch',
    'deployments/status: patch',
    'deployments/finalizers: update',
    'events: create,patch',
  ]);
});

test('manifests have the own custom resources and permissions of all controllers, and name each once', () => {
  const ofOthers = fromCrd(defineResource({ ...widget, kind: 'Gadget' }).crd);
  const one = counted({ owns: [Services], reads: [ofOthers] }).controller;
  const two = controllerFor(Widgets, { name: 'two', owns: [Deployments], reconcile: async () => {} });
  const { items } = manifestsOf({
    name: 'op',
    namespace: 'system',
    image: 'example.com/op:1',
    controllers: [one, two],
  });
  expect(items.map(({ kind }) => kind)).toEqual([
    'CustomResourceDefinition',
    'Namespace',
    'ServiceAccount',
    'ClusterRole',
    'ClusterRoleBinding',
    'Role',
    'RoleBinding',
    'Deployment',
  ]);
  const rules = items[3]?.['rules'] as { resources: string[]; verbs: string[] }[];
  const deployments = rules.filter(({ resources }) => resources.join() === 'deployments');
  expect(deployments.map(({ verbs }) => verbs.join())).toEqual(['get,list,watch,create,patch,delete']);
});

test('manifests have the definition of a resource whatever version of it a controller names', () => {
  const { controller } = counted({ reads: [Teams.versions.v1beta1] });
  const { items } = manifestsOf({ name: 'op', image: 'example.com/op:1', controllers: [controller] });
  expect(items[0]).toEqual({ ...Teams.crd, kind: 'CustomResourceDefinition' });
});

test('typed writes know the fields of their kind', () => {
  const { controller } = counted({
    async reconcile(object, { client, patchStatus }) {
      // @ts-expect-error: a Deployment has no such field
      await client.patch(Deployments, object, { spec: { replica: 1 } });
      // @ts-expect-error: the status has no such field
      await patchStatus({ ready: 1 });
      // @ts-expect-error: a Service has a spec
      await client.create(Services, { metadata: { name: 'a' } } satisfies Partial<Service>);
      // @ts-expect-error: cached objects are read-only
      object.spec.replicas = 1;
    },
  });
  expect(controller.name).toBe('test');
  expect(secret().kind).toBe('Secret');
});
