import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';

import { fooController } from '../../examples/sample-controller/controller.ts';
import { Foos } from '../../examples/sample-controller/foo.ts';
import {
  ConfigMaps,
  CoreEvents,
  CustomResourceDefinitions,
  defineKind,
  Deployments,
  formatMicroTime,
  Leases,
  splitApiVersion,
  type KubeObject,
} from '../../pkg/api/index.ts';
import { ClientBuilder, isInvalid, loadKubeconfig } from '../../pkg/client/index.ts';
import { LeaderLostError } from '../../pkg/leaderelection/index.ts';
import { runManager, type LeaderElectionSettings, type ServerSettings } from '../../pkg/manager/index.ts';
import {
  conditionsSchema,
  controllerFor,
  createResourceClient,
  defineResource,
  fromCrd,
  installResources,
  manifestsOf,
  type LeasePlace,
  type OperatorController,
  type ProbedServer,
  type ResourceClient,
} from '../../pkg/operator/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { eventually } from '../support/eventually.ts';
import { silentLogger } from '../support/loggers.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

/** A ConfigMap with what the spec says, a finalizer and a condition. */
const Settings = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Setting',
  spec: z.object({
    data: z.record(z.string(), z.string()).default({}),
    size: z.int32().min(1).default(1),
    port: z.union([z.int(), z.string()]).optional(),
    backend: z
      .discriminatedUnion('type', [
        z.object({ type: z.literal('disk'), path: z.string() }),
        z.object({ type: z.literal('s3'), bucket: z.string() }),
      ])
      .optional(),
  }),
  status: z.object({ replicas: z.int32(), conditions: conditionsSchema }),
  scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' },
  printerColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
  otherVersions: [{ version: 'v1beta1', spec: z.looseObject({}), deprecationWarning: 'use v1' }],
});

const cleaned: string[] = [];
const settingController = controllerFor(Settings, {
  name: 'setting-controller',
  owns: [ConfigMaps],
  finalizer: {
    name: 'example.com/setting',
    async cleanup({ metadata }) {
      cleaned.push(metadata.name);
    },
  },
  async reconcile({ metadata, spec }, { ensure, patchStatus }) {
    await ensure(ConfigMaps, { metadata: { name: metadata.name }, data: spec.data });
    const ready = { type: 'Ready', status: 'True', reason: 'Written' } as const;
    await patchStatus({ replicas: spec.size, conditions: [ready] });
  },
});

const getCluster = useCluster();
let clients: ClientBuilder;
let client: ResourceClient;
let namespace: string;
const { signal } = new AbortController();
const install = (): Promise<void> =>
  installResources([Foos, Settings], { client: client.raw, clock: systemClock, fieldManager: 'test' }, signal);

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: getCluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  client = createResourceClient(clients.clientFor('test'), { signal, fieldManager: 'test' });
  await install();
});
beforeEach(async () => {
  namespace = await createNamespace(getCluster(), 'operator');
});
afterAll(() => clients.close());

interface Operator extends AsyncDisposable {
  readonly ended: Promise<unknown>;
}

/** The durations of a lease that a test waits for. */
const shortTerms = { leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 250 };

/** The durations of a lease that outlives a restart of the servers on a slow machine. */
const longTerms = { leaseDurationMs: 300_000, renewDeadlineMs: 240_000, retryPeriodMs: 500 };

/** Runs a controller as its author does, until disposed. */
async function startOperator(
  name: string,
  controller: OperatorController,
  terms = {},
  kubeconfig = getCluster().kubeconfig(),
): Promise<Operator> {
  const stop = new AbortController();
  const leading = Promise.withResolvers<void>();
  const running = runManager({
    name,
    controllers: [controller],
    kubeconfig,
    leaderElection: { namespace, ...terms },
    server: false,
    logger: silentLogger,
    freezeCaches: true,
    signal: stop.signal,
    onLeading: leading.resolve,
  });
  const ended = running.then(
    () => 'stopped',
    (error: unknown) => error,
  );
  await Promise.race([leading.promise, running]);
  return {
    ended,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'));
      await ended;
    },
  };
}

const foo = (name: string, replicas = 1) => ({
  metadata: { namespace, name },
  spec: { deploymentName: name, replicas },
});
const replicasOf = async (name: string): Promise<number | undefined> =>
  (await client.find(Deployments, { namespace, name }))?.spec.replicas;

describe('a custom resource', () => {
  test('is served with defaults, validation, status, scale and its other version', async () => {
    const made = await client.create(Settings, { metadata: { namespace, name: 'a' }, spec: { port: 'http' } });
    expect(made.spec).toEqual({ data: {}, size: 1, port: 'http' });
    expect((await client.raw.getScale(Settings, `${namespace}/a` as never, signal)).spec?.replicas).toBe(1);
    const older = await client.get(Settings.versions.v1beta1, made);
    expect(older.apiVersion).toBe('example.com/v1beta1');
    const both = await client.update(Settings.versions.v1, { ...made, ...older, spec: { ...made.spec, size: 2 } });
    expect([both.apiVersion, both.spec.size]).toEqual(['example.com/v1', 2]);
    for (const wrong of [
      { size: 0 },
      { backend: { type: 'disk' as const, bucket: 'b' } },
      { backend: { type: 'tape' as const, path: 'p' } },
    ]) {
      const spec = wrong as { size: number };
      await expect(client.create(Settings, { metadata: { namespace, name: 'b' }, spec })).rejects.toSatisfy(isInvalid);
    }
    await client.delete(Settings, made);
  });

  test('can be made from the definition that a server returns', async () => {
    const { crd } = fromCrd(await client.get(CustomResourceDefinitions, Settings.crd));
    const installing = { client: client.raw, clock: systemClock, fieldManager: 'other-project' };
    await installResources([{ crd }], installing, signal);
    expect((await client.get(CustomResourceDefinitions, crd)).spec).toEqual(crd.spec);
  });
});

describe('an operator', () => {
  test('keeps a Deployment for each Foo, repairs it, and refuses one that is not its own', async () => {
    await using _ = await startOperator('sample', fooController);
    await client.create(Deployments, {
      metadata: { namespace, name: 'taken' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    await client.create(Foos, foo('taken'));
    await client.create(Foos, foo('mine', 2));
    await expect.poll(() => replicasOf('mine')).toBe(2);
    await client.patch(Deployments, { namespace, name: 'mine' }, { spec: { replicas: 7 } });
    await expect.poll(() => replicasOf('mine')).toBe(2);
    await client.patchStatus(
      Deployments,
      { namespace, name: 'mine' },
      { replicas: 2, readyReplicas: 2, availableReplicas: 2 },
    );
    await expect
      .poll(async () => (await client.get(Foos, { namespace, name: 'mine' })).status)
      .toEqual({ availableReplicas: 2 });
    const reasons = async (): Promise<string[]> =>
      (await client.list(CoreEvents, { namespace })).map(
        (event) => `${event.type} ${event.involvedObject.name} ${event.reason}: ${event.message}`,
      );
    const refusal = 'Warning taken ErrResourceExists: Resource "taken" already exists and is not managed by Foo';
    await expect.poll(reasons).toContain(refusal);
    await expect.poll(reasons).toContain('Normal mine Synced: Foo synced successfully');
    const taken = await client.get(Deployments, { namespace, name: 'taken' });
    expect(taken.metadata.ownerReferences).toBeUndefined();
  });

  test('owns the fields that it gives and no others, cleans up, and reports a condition', async () => {
    await using _ = await startOperator('settings', settingController);
    const key = { namespace, name: 'a' };
    const read = async () => (await client.find(ConfigMaps, key))?.data;
    await client.create(Settings, { metadata: key, spec: { data: { x: '1', y: '2' } } });
    await expect.poll(read).toEqual({ x: '1', y: '2' });
    await client.patch(ConfigMaps, key, { data: { theirs: '3' } });
    await client.patch(Settings, key, { spec: { data: { y: null } } });
    await expect.poll(read).toEqual({ x: '1', theirs: '3' });
    const done = await eventually(async () => {
      const setting = await client.get(Settings, key);
      return setting.status?.conditions?.[0]?.observedGeneration === 2 && setting;
    }, signal);
    expect(done.status).toMatchObject({
      replicas: 1,
      conditions: [{ type: 'Ready', status: 'True', reason: 'Written' }],
    });
    expect(done.metadata.finalizers).toEqual(['example.com/setting']);
    await client.delete(Settings, key);
    await expect.poll(() => client.find(Settings, key)).toBeUndefined();
    expect(cleaned).toContain('a');
  });

  test('needs only the permissions of its manifests', async () => {
    // It takes the settings of runManager as they are.
    expectTypeOf<ServerSettings>().toExtend<ProbedServer>();
    expectTypeOf<LeaderElectionSettings>().toExtend<LeasePlace>();
    const { items } = manifestsOf({ name: namespace, image: 'example.com/i', controllers: [settingController] });
    for (const item of items) {
      const { group, version } = splitApiVersion(String(item['apiVersion']));
      const resource = `${item.kind.toLowerCase()}s`;
      const namespaced = ['ServiceAccount', 'Role', 'RoleBinding', 'Deployment'].includes(item.kind);
      const kind = defineKind<KubeObject>({ group, version, kind: item.kind, resource, namespaced });
      const metadata = item['metadata'] as { name: string };
      await client.apply(kind, { ...item, metadata }, { force: true });
    }
    const user = `system:serviceaccount:${namespace}:${namespace}`;
    const kubeconfig = getCluster().kubeconfig({ user, groups: ['system:serviceaccounts', 'system:authenticated'] });
    await using _ = await startOperator('permitted', settingController, {}, kubeconfig);
    const key = { namespace, name: 'allowed' };
    await client.create(Settings, { metadata: key, spec: { data: { x: '1' } } });
    await expect.poll(async () => (await client.get(Settings, key)).status?.replicas).toBe(1);
    await client.delete(Settings, key);
    await expect.poll(() => client.find(Settings, key)).toBeUndefined();
  });

  test('reports that its resource has no status, instead of taking the object for deleted', async () => {
    const Notes = defineResource({ group: 'example.com', version: 'v1', kind: 'Note', spec: z.object({}) });
    await installResources([Notes], { client: client.raw, clock: systemClock, fieldManager: 'test' }, signal);
    const attempts: string[] = [];
    const controller = controllerFor(Notes, {
      name: 'note-controller',
      async reconcile({ metadata: { name } }, { client: own }) {
        attempts.push(name);
        await own.patchStatus(Notes, { namespace, name }, { done: true } as never); // as JavaScript allows
      },
    });
    await using _ = await startOperator('notes', controller);
    await client.create(Notes, { metadata: { namespace, name: 'a' }, spec: {} });
    await eventually(async () => attempts.length > 2, signal);
    expect(new Set(attempts)).toEqual(new Set(['a']));
  });

  test('continues after its own restart, and after a crash of the servers that ends its watches', async () => {
    const { apiServer, etcd } = getCluster();
    {
      await using _ = await startOperator('restarts', fooController, longTerms);
      await client.create(Foos, foo('one'));
      await expect.poll(() => replicasOf('one')).toBe(1);
    }
    await client.patch(Foos, { namespace, name: 'one' }, { spec: { replicas: 2 } });
    await using _ = await startOperator('restarts', fooController, longTerms);
    await expect.poll(() => replicasOf('one')).toBe(2);
    // Killed and compacted: no watch can resume.
    await getCluster().compact();
    await apiServer.kill();
    await etcd.kill();
    if (etcd !== apiServer) await etcd.start();
    await apiServer.start();
    await client.patch(Foos, { namespace, name: 'one' }, { spec: { replicas: 3 } });
    await expect.poll(() => replicasOf('one')).toBe(3);
  });

  test('continues after its custom resource was deleted and created again', async () => {
    await using operator = await startOperator('vanishing', fooController);
    await client.create(Foos, foo('before'));
    await expect.poll(() => replicasOf('before')).toBe(1);
    await client.delete(CustomResourceDefinitions, { name: 'foos.samplecontroller.example.com' });
    const definitions = (): Promise<unknown> =>
      client.find(CustomResourceDefinitions, { name: 'foos.samplecontroller.example.com' });
    await expect.poll(definitions).toBeUndefined();
    await install();
    await eventually(() => client.create(Foos, foo('after')), signal);
    await expect.poll(() => replicasOf('after')).toBe(1);
    expect(await Promise.race([operator.ended, Promise.resolve('running')])).toBe('running');
  });

  test('stops when it loses its lease, and another takes over once that has expired', async () => {
    await using first = await startOperator('leased', fooController, shortTerms);
    await client.create(Foos, foo('one'));
    await expect.poll(() => replicasOf('one')).toBe(1);
    const now = formatMicroTime(Date.now());
    const stolen = { holderIdentity: 'thief', renewTime: now, acquireTime: now, leaseDurationSeconds: 2 };
    await client.patch(Leases, { namespace, name: 'leased' }, { spec: stolen });
    expect(await first.ended).toBeInstanceOf(LeaderLostError);
    await client.patch(Foos, { namespace, name: 'one' }, { spec: { replicas: 2 } });
    await using _ = await startOperator('leased', fooController, shortTerms);
    await expect.poll(() => replicasOf('one')).toBe(2);
  });
});
