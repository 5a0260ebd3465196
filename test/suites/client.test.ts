import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  ConfigMaps,
  CustomResourceDefinitions,
  defineKind,
  Deployments,
  metadataOf,
  Namespaces,
  Nodes,
  objectKey,
  PodDisruptionBudgets,
  Pods,
  ServiceAccounts,
  type ConfigMap,
  type ObjectKey,
  type Pod,
  type Unsaved,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import {
  ApiError,
  ClientBuilder,
  createDiscovery,
  hasCause,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isMethodNotSupported,
  isNamespaceTerminating,
  isNotFound,
  isTooManyRequests,
  loadKubeconfig,
  terminatingNamespaceOf,
  userAgentOf,
  type Client,
  type WatchEvent,
} from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { eventually } from '../support/eventually.ts';
import { isSandbox } from '../cluster/index.ts';
import { createNamespace, useSharedCluster } from './use-cluster.ts';

const cluster = useSharedCluster();
const userAgent = userAgentOf({ name: 'client-suite', version: 'v0' });
const builders: ClientBuilder[] = [];
let builder: ClientBuilder;
let client: Client;
let namespace: string;

async function builderFor(
  options: Partial<ConstructorParameters<typeof ClientBuilder>[0]> = {},
): Promise<ClientBuilder> {
  const connection = await loadKubeconfig({ path: cluster.kubeconfig() }, systemClock);
  const made = new ClientBuilder({ connection, clock: systemClock, userAgent, ...options });
  builders.push(made);
  return made;
}

beforeAll(async () => {
  builder = await builderFor();
  client = builder.clientFor('suite');
  namespace = await createNamespace(cluster, 'client');
});
afterAll(() => {
  for (const made of builders) made.close();
});

const key = (name: string): ObjectKey => objectKey(namespace, name);
const configMap = (name: string, data: Record<string, string> = {}): Unsaved<ConfigMap> => ({
  metadata: { namespace, name, labels: { suite: 'client' } },
  data,
});
const pod = (name: string): Unsaved<Pod> => ({
  metadata: { namespace, name, labels: { app: name } },
  spec: { containers: [{ name: 'main', image: 'example.com/none' }], terminationGracePeriodSeconds: 0 },
});

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('verbs', () => {
  test('create, get, update and delete are one object', async ({ signal }) => {
    const created = await client.create(ConfigMaps, configMap('crud', { greeting: 'grüß dich 🎈' }), signal);
    expect(created.metadata).not.toHaveProperty('managedFields');
    expect(await client.get(ConfigMaps, key('crud'), signal)).toEqual(created);
    const updated = await client.update(ConfigMaps, { ...created, data: { greeting: 'bye' } }, signal);
    expect(updated.data).toEqual({ greeting: 'bye' });
    expect(isConflict(await errorOf(client.update(ConfigMaps, { ...created, data: {} }, signal)))).toBe(true);
    await client.delete(ConfigMaps, key('crud'), {}, signal);
    expect(isNotFound(await errorOf(client.get(ConfigMaps, key('crud'), signal)))).toBe(true);
  });

  test('a second create under the same name is refused as AlreadyExists', async ({ signal }) => {
    await client.create(ConfigMaps, configMap('twice'), signal);
    const error = await errorOf(client.create(ConfigMaps, configMap('twice'), signal));
    expect(isAlreadyExists(error)).toBe(true);
    expect(isConflict(error)).toBe(false);
  });

  test('an invalid object is refused with the causes', async ({ signal }) => {
    const error = await errorOf(client.create(ConfigMaps, configMap('Not_A_Name'), signal));
    expect(isInvalid(error)).toBe(true);
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).causes).toMatchObject([{ field: 'metadata.name' }]);
  });

  test('a delete by the uid of another object is refused as a conflict', async ({ signal }) => {
    await client.create(ConfigMaps, configMap('precondition'), signal);
    const deletion = client.delete(ConfigMaps, key('precondition'), { preconditions: { uid: 'another' } }, signal);
    expect(isConflict(await errorOf(deletion))).toBe(true);
  });

  test('foreground deletion leaves the object with its finalizer', async ({ signal }) => {
    await client.create(ConfigMaps, configMap('foreground'), signal);
    await client.delete(ConfigMaps, key('foreground'), { propagationPolicy: 'Foreground' }, signal);
    const { metadata } = await client.get(ConfigMaps, key('foreground'), signal);
    expect(metadata.finalizers).toEqual(['foregroundDeletion']);
    await client.patch(
      ConfigMaps,
      key('foreground'),
      { type: 'merge', body: { metadata: { finalizers: null } } },
      signal,
    );
  });

  test('deleteCollection deletes the selected objects', async ({ signal }) => {
    for (const name of ['all-1', 'all-2']) {
      await client.create(ConfigMaps, { metadata: { namespace, name, labels: { all: 'yes' } } }, signal);
    }
    await client.create(ConfigMaps, configMap('all-not'), signal);
    await client.deleteCollection(ConfigMaps, { namespace, labelSelector: 'all=yes' }, signal);
    const left = await client.list(ConfigMaps, { namespace }, signal);
    const names = left.items.map(({ metadata }) => metadata.name);
    expect(names).toContain('all-not');
    expect(names).not.toContain('all-1');
  });

  test('the four types of patch merge, replace and apply as specified', async ({ signal }) => {
    await client.create(Pods, pod('patched'), signal);
    const patch = (patchOf: Parameters<Client['patch']>[2]): Promise<Pod> =>
      client.patch(Pods, key('patched'), patchOf, signal);
    const merged = await patch({ type: 'merge', body: { metadata: { labels: { merged: 'yes', app: null } } } });
    expect(merged.metadata.labels).toEqual({ merged: 'yes' });
    const json = await patch({ type: 'json', body: [{ op: 'add', path: '/metadata/labels/json', value: 'yes' }] });
    expect(json.metadata.labels).toEqual({ merged: 'yes', json: 'yes' });
    const strategic = await patch({
      type: 'strategic',
      body: { spec: { containers: [{ name: 'main', image: 'example.com/new' }] } },
    });
    expect(strategic.spec.containers).toMatchObject([{ name: 'main', image: 'example.com/new' }]);
    const apply = { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { applied: 'yes' } } };
    const applied = await patch({ type: 'apply', body: apply, fieldManager: 'suite' });
    expect(applied.metadata.labels).toEqual({ merged: 'yes', json: 'yes', applied: 'yes' });
    const status = await patch({ type: 'merge', body: { status: { message: 'hello' } }, subresource: 'status' });
    expect(status.status?.message).toBe('hello');
  });

  test('an apply against another owner is a conflict unless forced', async ({ signal }) => {
    const apply = (fieldManager: string, value: string, force?: boolean): Promise<ConfigMap> => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { value } };
      return client.patch(ConfigMaps, key('applied'), { type: 'apply', body, fieldManager, force }, signal);
    };
    await apply('one', 'a');
    expect(isConflict(await errorOf(apply('two', 'b')))).toBe(true);
    expect((await apply('two', 'b', true)).data).toEqual({ value: 'b' });
  });

  test('updateStatus changes the status and nothing else', async ({ signal }) => {
    const created = await client.create(Pods, pod('status'), signal);
    const spec = { ...created.spec, activeDeadlineSeconds: 7 };
    const updated = await client.updateStatus(Pods, { ...created, spec, status: { phase: 'Running' } }, signal);
    expect(updated.status?.phase).toBe('Running');
    expect(updated.spec).toEqual(created.spec);
  });

  test('writes with metadata-only responses return only metadata', async ({ signal }) => {
    const created = await client.create(metadataOf(Pods), pod('partial'), signal);
    expect(Object.keys(created).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(created.metadata.name).toBe('partial');
    expect((await client.get(Pods, key('partial'), signal)).spec.containers).toHaveLength(1);
  });
});

describe('subresources', () => {
  test('scale is read and written', async ({ signal }) => {
    const labels = { app: 'scaled' };
    const template = { metadata: { labels }, spec: { containers: pod('x').spec.containers } };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    await client.create(Deployments, { metadata: { namespace, name: 'scaled' }, spec }, signal);
    const scale = await client.getScale(Deployments, key('scaled'), signal);
    expect(scale.spec?.replicas).toBe(1);
    const written = await client.updateScale(Deployments, key('scaled'), { ...scale, spec: { replicas: 3 } }, signal);
    expect(written.spec?.replicas).toBe(3);
    expect((await client.get(Deployments, key('scaled'), signal)).spec.replicas).toBe(3);
  });

  test('a pod is bound to a node', async ({ signal }) => {
    await client.create(Pods, pod('bound'), signal);
    await client.bindPod(key('bound'), 'some-node', signal);
    expect((await client.get(Pods, key('bound'), signal)).spec.nodeName).toBe('some-node');
  });

  test('a pod is evicted, unless a budget forbids it, which is not retried', async ({ signal }) => {
    await client.create(Pods, pod('evicted'), signal);
    await client.evictPod(key('evicted'), { gracePeriodSeconds: 0 }, signal);
    expect(isNotFound(await errorOf(client.get(Pods, key('evicted'), signal)))).toBe(true);

    const guarded = await client.create(Pods, pod('guarded'), signal);
    await client.updateStatus(
      Pods,
      { ...guarded, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
      signal,
    );
    const budget = { selector: { matchLabels: { app: 'guarded' } }, minAvailable: 1 };
    await client.create(PodDisruptionBudgets, { metadata: { namespace, name: 'guard' }, spec: budget }, signal);
    const error = await errorOf(client.evictPod(key('guarded'), {}, signal));
    expect(isTooManyRequests(error)).toBe(true);
    expect(hasCause(error, 'DisruptionBudget')).toBe(true);
  });

  test('a token is created for a service account', async ({ signal }) => {
    const request = { spec: { audiences: [], expirationSeconds: 600 } };
    const { status } = await client.createToken(key('default'), request, signal);
    expect(status?.token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  test('a namespace is deleted once it is finalized, and refuses new objects until then', async ({ signal }) => {
    const name = await createNamespace(cluster, 'finalize');
    await client.delete(Namespaces, objectKey(undefined, name), {}, signal);
    const error = await errorOf(client.create(ConfigMaps, { metadata: { namespace: name, name: 'late' } }, signal));
    expect(isNamespaceTerminating(error)).toBe(true);
    expect(terminatingNamespaceOf(error)).toBe(name);
    const terminating = await client.get(Namespaces, objectKey(undefined, name), signal);
    await client.finalizeNamespace({ ...terminating, spec: { finalizers: [] } }, signal);
    expect(isNotFound(await errorOf(client.get(Namespaces, objectKey(undefined, name), signal)))).toBe(true);
  });

  test('an unsupported verb has its own error', async ({ signal }) => {
    const error = await errorOf(client.request({ method: 'DELETE', path: '/api/v1/namespaces' }, signal));
    expect(isMethodNotSupported(error)).toBe(true);
  });
});

describe('lists and watches', () => {
  test('listAll returns every object once, however many pages it takes', async ({ signal }) => {
    const many = await createNamespace(cluster, 'pages');
    const names = Array.from({ length: 25 }, (_, index) => `c${String(index).padStart(2, '0')}`);
    await Promise.all(names.map((name) => client.create(ConfigMaps, { metadata: { namespace: many, name } }, signal)));
    const page = await client.list(ConfigMaps, { namespace: many, limit: 10 }, signal);
    expect(page.items).toHaveLength(10);
    expect(page.metadata.remainingItemCount).toBe(15);
    for (const options of [{}, { limit: 10 }, { limit: 10, resourceVersion: page.metadata.resourceVersion }]) {
      const all = await client.listAll(ConfigMaps, { namespace: many, ...options }, signal);
      expect(all.items.map(({ metadata }) => metadata.name)).toEqual(names);
      expect(all.metadata.continue).toBeUndefined();
    }
  });

  test('a metadata-only list and watch have only metadata', async ({ signal }) => {
    const alone = await createNamespace(cluster, 'metadata');
    const Metadata = metadataOf(ConfigMaps);
    expect((await client.listAll(Metadata, { namespace: alone }, signal)).items).toEqual([]);
    await client.create(ConfigMaps, { metadata: { namespace: alone, name: 'a' }, data: { big: 'data' } }, signal);
    const { items, metadata } = await client.listAll(Metadata, { namespace: alone }, signal);
    expect(items).toMatchObject([{ metadata: { name: 'a' } }]);
    expect(items[0]).not.toHaveProperty('data');
    expect(items[0]?.metadata).not.toHaveProperty('managedFields');
    const events = client.watch(Metadata, { namespace: alone, resourceVersion: metadata.resourceVersion }, signal);
    await client.patch(ConfigMaps, objectKey(alone, 'a'), { type: 'merge', body: { data: { more: 'data' } } }, signal);
    for await (const event of events) {
      expect(event).toMatchObject({ type: 'MODIFIED', object: { metadata: { name: 'a' } } });
      expect(event).not.toHaveProperty('object.data');
      break;
    }
  });

  test('a watch with initial events reports their end', async ({ signal }) => {
    const fresh = await createNamespace(cluster, 'watchlist');
    for (const name of ['a', 'b']) await client.create(ConfigMaps, { metadata: { namespace: fresh, name } }, signal);
    const options = {
      namespace: fresh,
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
    } as const;
    const seen: WatchEvent<ConfigMap>[] = [];
    for await (const event of client.watch(ConfigMaps, options, signal)) {
      seen.push(event);
      if (event.type === 'BOOKMARK') break;
    }
    expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK']);
    expect(seen.at(-1)).toMatchObject({ initialEventsEnd: true });
  });

  test('a watch loses nothing of a burst, in batches or one by one', async ({ signal }) => {
    const burst = await createNamespace(cluster, 'burst');
    const { metadata } = await client.list(ConfigMaps, { namespace: burst }, signal);
    const from = { namespace: burst, resourceVersion: metadata.resourceVersion };
    const names = Array.from({ length: 200 }, (_, index) => `c${index}`);
    const single: string[] = [];
    const batched: string[] = [];
    const watching = Promise.all([
      (async () => {
        for await (const event of client.watch(ConfigMaps, from, signal)) {
          if (event.type === 'ADDED') single.push(event.object.metadata.name);
          if (single.length === names.length) return;
        }
      })(),
      (async () => {
        for await (const events of client.watchBatches(ConfigMaps, from, signal)) {
          for (const event of events) if (event.type === 'ADDED') batched.push(event.object.metadata.name);
          if (batched.length === names.length) return;
        }
      })(),
    ]);
    const data = { text: 'ü'.repeat(5000) };
    const create = (name: string): Promise<unknown> =>
      client.create(ConfigMaps, { metadata: { namespace: burst, name }, data }, signal);
    await Promise.all(names.map(create));
    await watching;
    expect(single.toSorted()).toEqual(names.toSorted());
    expect(batched).toEqual(single);
  });

  test('the server ends a watch at its timeout', async ({ signal }) => {
    const { metadata } = await client.list(Nodes, {}, signal);
    const options = { resourceVersion: metadata.resourceVersion, timeoutSeconds: 1 };
    for await (const event of client.watch(Nodes, options, signal)) expect(event.type).toBe('BOOKMARK');
  });
});

describe('discovery', () => {
  const group = 'client-suite.example.com';
  const crd = {
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };

  test('finds the resources of the server, and custom resources that are added and removed', async ({ signal }) => {
    const discovery = createDiscovery(client);
    const { resources, failures } = await discovery.preferred(signal);
    expect([...failures]).toEqual([]);
    const pods = resources.find(({ kind }) => kind.kind === 'Pod' && kind.group === '');
    expect(pods?.kind).toMatchObject(Pods);
    expect(pods?.verbs.has('deletecollection')).toBe(true);
    expect(resources.filter(({ kind }) => kind.resource.includes('/'))).toEqual([]);
    expect(await discovery.kindFor('apps/v1', 'Deployment', signal)).toMatchObject(Deployments);
    expect(await discovery.kindFor(`${group}/v1`, 'Widget', signal)).toBeUndefined();

    await client.create(defineKind<UntypedObject>(CustomResourceDefinitions), crd, signal);
    const widgets = await eventually(
      async () => (await discovery.kindFor(`${group}/v1`, 'Widget', signal)) ?? false,
      signal,
    );
    const Widgets = defineKind<UntypedObject>(widgets);
    const created = await eventually(
      () => client.create(Widgets, { metadata: { namespace, name: 'w' }, managedFields: [{ own: 'field' }] }, signal),
      signal,
    );
    expect(created).toMatchObject({ kind: 'Widget', managedFields: [{ own: 'field' }] });
    expect(created.metadata).not.toHaveProperty('managedFields');
    expect((await client.listAll(Widgets, { namespace }, signal)).items).toHaveLength(1);

    await client.delete(CustomResourceDefinitions, objectKey(undefined, crd.metadata.name), {}, signal);
    await eventually(async () => {
      await discovery.refresh(signal);
      return (await discovery.kindFor(`${group}/v1`, 'Widget', signal)) === undefined;
    }, signal);
  });
});

describe('identities', () => {
  test.skipIf(isSandbox)(
    'a client with service account credentials acts as that account, created if missing, with its permissions only',
    async ({ signal }) => {
      const accounts = await createNamespace(cluster, 'accounts');
      const asAccounts = (await builderFor({ serviceAccountNamespace: accounts })).clientFor('some-controller');
      const error = await errorOf(asAccounts.list(ConfigMaps, { namespace: accounts }, signal));
      expect(isForbidden(error)).toBe(true);
      expect(String(error)).toContain(`system:serviceaccount:${accounts}:some-controller`);
      await client.get(ServiceAccounts, objectKey(accounts, 'some-controller'), signal);

      const kubeSystem = (await builderFor({ serviceAccountNamespace: 'kube-system' })).clientFor(
        'replicaset-controller',
      );
      await kubeSystem.list(Pods, { namespace }, signal); // a role that the server binds to this account
      expect(isForbidden(await errorOf(kubeSystem.list(ConfigMaps, { namespace }, signal)))).toBe(true);
    },
  );

  test('a recreated service account gets a new token after the old one is refused', async ({ signal }) => {
    const accounts = await createNamespace(cluster, 'renewed');
    const asAccounts = (await builderFor({ serviceAccountNamespace: accounts })).clientFor('renewed-controller');
    const { uid: before } = await whoAmI(asAccounts, signal);
    await client.delete(ServiceAccounts, objectKey(accounts, 'renewed-controller'), {}, signal);
    const after = await eventually(async () => {
      const { uid } = await whoAmI(asAccounts, signal);
      return uid === before ? false : uid; // the server caches the authentication of a token for a few seconds
    }, signal);
    const account = await client.get(ServiceAccounts, objectKey(accounts, 'renewed-controller'), signal);
    expect(after).toBe(account.metadata.uid);
  });

  test('a token is renewed before it expires', async ({ signal }) => {
    const accounts = await createNamespace(cluster, 'expiring');
    const clock = new FakeClock(systemClock.now());
    const asAccounts = (await builderFor({ serviceAccountNamespace: accounts, clock })).clientFor(
      'expiring-controller',
    );
    await whoAmI(asAccounts, signal);
    const issued: string[] = [];
    const observed = await builderFor({
      serviceAccountNamespace: accounts,
      clock,
      observer: { requestFinished: ({ verb }) => void issued.push(verb) },
    });
    const watched = observed.clientFor('expiring-controller');
    await whoAmI(watched, signal);
    await whoAmI(watched, signal);
    expect(issued).toEqual(['POST', 'POST', 'POST']); // a token, and two reviews
    await clock.advance(0.81 * 3600 * 1000);
    await whoAmI(watched, signal);
    expect(issued).toEqual(['POST', 'POST', 'POST', 'POST', 'POST']);
  });

  test('a rotated token file is read without a restart', async ({ signal }) => {
    const token = async (name: string): Promise<string> => {
      await client.create(ServiceAccounts, { metadata: { namespace, name } }, signal);
      const { status } = await client.createToken(
        key(name),
        { spec: { audiences: [], expirationSeconds: 600 } },
        signal,
      );
      return status?.token ?? '';
    };
    const tokenFile = join(cluster.directory, `${namespace}.token`);
    const ca = readFileSync(cluster.files.ca).toString('base64');
    const config = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: cluster.url, 'certificate-authority-data': ca } }],
      users: [{ name: 'u', user: { tokenFile } }],
    };
    const path = join(cluster.directory, `${namespace}.kubeconfig`);
    writeFileSync(path, JSON.stringify(config));
    writeFileSync(tokenFile, `${await token('before')}\n`);
    const clock = new FakeClock(systemClock.now());
    const rotating = (await builderFor({ connection: await loadKubeconfig({ path }, clock) })).clientFor('rotating');
    expect((await whoAmI(rotating, signal)).username).toBe(`system:serviceaccount:${namespace}:before`);
    writeFileSync(tokenFile, `${await token('after')}\n`);
    await clock.advance(60_000);
    expect((await whoAmI(rotating, signal)).username).toBe(`system:serviceaccount:${namespace}:after`);
    writeFileSync(tokenFile, 'spoilt');
    await clock.advance(60_000);
    expect(await errorOf(rotating.list(Pods, {}, signal))).toMatchObject({ status: 401 });
    writeFileSync(tokenFile, `${await token('again')}\n`);
    expect((await whoAmI(rotating, signal)).username).toBe(`system:serviceaccount:${namespace}:again`);
  });
});

/** The user that the server authenticates. */
async function whoAmI(as: Client, signal: AbortSignal): Promise<{ readonly uid?: string; readonly username?: string }> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const answer = (await as.request({ method: 'POST', path, body: review }, signal)) as {
    status?: { userInfo?: { uid?: string; username?: string } };
  };
  return answer.status?.userInfo ?? {};
}
