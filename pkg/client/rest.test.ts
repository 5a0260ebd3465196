import { getEventListeners, once } from 'node:events';

import { describe, expect, test } from 'vitest';

import { envelope, field, message, watchFrame } from '../../test/support/encode-protobuf.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { hangUp, json, LoopbackServer, silence, status, type Answer } from '../../test/support/loopback-server.ts';
import {
  ConfigMaps,
  defineKind,
  metadataOf,
  Namespaces,
  objectKey,
  Pods,
  type Kind,
  type UntypedObject,
} from '../api/index.ts';
import { ClientBuilder } from './client-builder.ts';
import type { Client } from './client.ts';
import { staticCredentials, type Credentials } from './credentials.ts';
import { isClientClosed, isConnectionError, isExpired, isNotFound, isUndecodable } from './errors.ts';
import type { FinishedRequest, RequestObserver } from './observer.ts';
import { createRateLimiter } from './rate-limit.ts';
import { RestClient } from './rest.ts';
import { Transport } from './transport.ts';

const never = new AbortController().signal;
const key = objectKey('ns', 'a');
const ok = json({ metadata: { name: 'a' } });

interface Harness extends AsyncDisposable {
  readonly server: LoopbackServer;
  readonly client: Client;
  readonly clock: FakeClock;
  readonly transport: Transport;
}

interface HarnessOptions {
  readonly credentials?: Credentials;
  readonly observer?: RequestObserver;
  readonly qps?: number;
  readonly watchFormat?: 'json';
}

async function start(answers: readonly Answer[], options: HarnessOptions = {}): Promise<Harness> {
  const server = await LoopbackServer.start(...answers);
  const clock = new FakeClock();
  const transport = new Transport({ url: `${server.url}/prefix/` }, clock);
  const client = new RestClient({
    name: 'test',
    transport,
    credentials: options.credentials ?? staticCredentials({ tls: {}, headers: ['Authorization', 'Bearer t'] }),
    clock,
    random: () => 0,
    userAgent: 'test/v1',
    timeoutMs: 10_000,
    observer: options.observer,
    watchFormat: options.watchFormat,
    rateLimiter: options.qps === undefined ? undefined : createRateLimiter({ qps: options.qps, burst: 1 }, clock),
  });
  const dispose = async (): Promise<void> => {
    transport.close();
    await server[Symbol.asyncDispose]();
  };
  return { server, client, clock, transport, [Symbol.asyncDispose]: dispose };
}

/** Advances the clock past the delays of retries during a call. */
async function withTime<T>(clock: FakeClock, call: Promise<T>): Promise<T> {
  const progress = { done: false };
  const settled = call.finally(() => (progress.done = true));
  settled.catch(() => undefined);
  while (!progress.done) {
    await settle();
    if ((clock.nextTimerMs ?? Infinity) < 10_000) await clock.advance(clock.nextTimerMs ?? 0);
  }
  return settled;
}

describe('verbs', () => {
  interface Row {
    readonly name: string;
    readonly call: (client: Client) => Promise<unknown>;
    readonly request: string;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  }
  const Widgets = defineKind<UntypedObject>({
    group: 'example.com',
    version: 'v1beta1',
    kind: 'Widget',
    resource: 'widgets',
    namespaced: true,
  });
  const rows: readonly Row[] = [
    { name: 'get', call: (client) => client.get(Pods, key, never), request: 'GET /prefix/api/v1/namespaces/ns/pods/a' },
    {
      name: 'get metadata',
      call: (client) => client.get(metadataOf(Pods), key, never),
      request: 'GET /prefix/api/v1/namespaces/ns/pods/a',
      headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json' },
    },
    {
      name: 'list',
      call: (client) => client.list(Pods, { namespace: 'ns', labelSelector: 'a=b', limit: 3 }, never),
      request: 'GET /prefix/api/v1/namespaces/ns/pods?labelSelector=a%3Db&limit=3',
      headers: { accept: 'application/json', 'user-agent': 'test/v1', authorization: 'Bearer t' },
    },
    {
      name: 'list metadata',
      call: (client) => client.list(metadataOf(Pods), {}, never),
      request: 'GET /prefix/api/v1/pods',
      headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json' },
    },
    {
      name: 'create of an untyped kind, with apiVersion and kind',
      call: (client) => client.create(Widgets, { metadata: { namespace: 'ns', name: 'w' }, size: 'ü' }, never),
      request: 'POST /prefix/apis/example.com/v1beta1/namespaces/ns/widgets',
      body: { apiVersion: 'example.com/v1beta1', kind: 'Widget', metadata: { namespace: 'ns', name: 'w' }, size: 'ü' },
      headers: { 'content-type': 'application/json' },
    },
    {
      name: 'update status',
      call: (client) => client.updateStatus(Namespaces, { metadata: { name: 'n' } }, never),
      request: 'PUT /prefix/api/v1/namespaces/n/status',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } },
    },
    {
      name: 'apply',
      call: (client) => client.patch(Pods, key, { type: 'apply', body: {}, fieldManager: 'me', force: true }, never),
      request: 'PATCH /prefix/api/v1/namespaces/ns/pods/a?fieldManager=me&force=true',
      body: {},
      headers: { 'content-type': 'application/apply-patch+yaml' },
    },
    {
      name: 'strategic patch of a subresource',
      call: (client) => client.patch(Pods, key, { type: 'strategic', body: { a: 1 }, subresource: 'status' }, never),
      request: 'PATCH /prefix/api/v1/namespaces/ns/pods/a/status',
      body: { a: 1 },
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
    },
    {
      name: 'delete with preconditions',
      call: (client) => client.delete(Pods, key, { preconditions: { uid: 'u' }, propagationPolicy: 'Orphan' }, never),
      request: 'DELETE /prefix/api/v1/namespaces/ns/pods/a',
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'u' }, propagationPolicy: 'Orphan' },
    },
    {
      name: 'delete a collection',
      call: (client) => client.deleteCollection(Pods, { namespace: 'ns', labelSelector: 'x' }, never),
      request: 'DELETE /prefix/api/v1/namespaces/ns/pods?labelSelector=x',
    },
    {
      name: 'evict',
      call: (client) => client.evictPod(key, { gracePeriodSeconds: 5 }, never),
      request: 'POST /prefix/api/v1/namespaces/ns/pods/a/eviction',
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { namespace: 'ns', name: 'a' },
        deleteOptions: { gracePeriodSeconds: 5 },
      },
    },
    {
      name: 'bind',
      call: (client) => client.bindPod(key, 'node', never),
      request: 'POST /prefix/api/v1/namespaces/ns/pods/a/binding',
      body: {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { namespace: 'ns', name: 'a' },
        target: { apiVersion: 'v1', kind: 'Node', name: 'node' },
      },
    },
    {
      name: 'finalize',
      call: (client) => client.finalizeNamespace({ metadata: { name: 'n' }, spec: { finalizers: [] } }, never),
      request: 'PUT /prefix/api/v1/namespaces/n/finalize',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' }, spec: { finalizers: [] } },
    },
    {
      name: 'update approval',
      call: (client) =>
        client.updateApproval({ metadata: { name: 'n' }, spec: { request: '', signerName: 's' } }, never),
      request: 'PUT /prefix/apis/certificates.k8s.io/v1/certificatesigningrequests/n/approval',
      body: {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: 'n' },
        spec: { request: '', signerName: 's' },
      },
    },
  ];
  for (const { name, call, request, body, headers } of rows) {
    test(name, async () => {
      await using harness = await start([json({ metadata: {}, items: [] })]);
      await call(harness.client);
      const [received] = harness.server.requests;
      expect(`${received?.method} ${received?.path}`).toBe(request);
      expect(received?.body === '' ? undefined : JSON.parse(received?.body ?? '')).toEqual(body);
      expect(received?.headers).toMatchObject(headers ?? {});
    });
  }

  test('a namespaced object cannot be created outside a namespace', async () => {
    await using harness = await start([ok]);
    await expect(harness.client.create(ConfigMaps, { metadata: { name: 'a' } }, never)).rejects.toThrow('namespace');
    expect(harness.server.requests).toEqual([]);
  });

  test('a response that is not JSON is returned as text', async () => {
    await using harness = await start([(response) => response.end('ok')]);
    expect(await harness.client.request({ method: 'GET', path: '/healthz' }, never)).toBe('ok');
  });

  test('requests one after the other share a connection', async () => {
    await using harness = await start([ok]);
    for (let count = 0; count < 5; count++) await harness.client.get(Pods, key, never);
    expect(harness.server.connections).toBe(1);
  });
});

describe('lists', () => {
  const page = (names: readonly string[], token?: string): Answer =>
    json({ metadata: { resourceVersion: '5', continue: token }, items: names.map((name) => ({ metadata: { name } })) });

  test('an empty list of metadata has no items, not null', async () => {
    await using harness = await start([json({ metadata: { resourceVersion: '5' }, items: null })]);
    expect((await harness.client.list(metadataOf(Pods), {}, never)).items).toEqual([]);
  });

  test('listAll joins the pages, and sends the resourceVersion with the first only', async () => {
    await using harness = await start([page(['a', 'b'], 'next'), page(['c'])]);
    const list = await harness.client.listAll(Pods, { resourceVersion: '0', labelSelector: 'x' }, never);
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    expect(list.metadata).toEqual({ resourceVersion: '5' });
    expect(harness.server.requests.map(({ path }) => path)).toEqual([
      '/prefix/api/v1/pods?limit=500&resourceVersion=0&labelSelector=x',
      '/prefix/api/v1/pods?limit=500&labelSelector=x&continue=next',
    ]);
  });

  test('listAll lists again without pages when the pages have expired', async () => {
    await using harness = await start([page(['a'], 'next'), status(410, { reason: 'Expired' }), page(['x', 'y'])]);
    const list = await harness.client.listAll(Pods, {}, never);
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['x', 'y']);
    expect(harness.server.requests.at(-1)?.path).toBe('/prefix/api/v1/pods');
  });

  test('managedFields are removed', async () => {
    await using harness = await start([json({ metadata: { name: 'a', managedFields: [{ manager: 'x' }] } })]);
    expect(await harness.client.get(Pods, key, never)).toEqual({ metadata: { name: 'a' } });
  });
});

describe('errors and retries', () => {
  test('an error response becomes an ApiError with the verb and the object', async () => {
    await using harness = await start([status(404, { reason: 'NotFound', message: 'pods "a" not found' })]);
    const error: unknown = await harness.client.get(Pods, key, never).catch((caught: unknown) => caught);
    expect(isNotFound(error)).toBe(true);
    expect(error).toMatchObject({ message: 'get pods ns/a: pods "a" not found', status: 404 });
  });

  test('the page of a proxy becomes an ApiError too', async () => {
    await using harness = await start([(response) => response.writeHead(502).end('<html>bad gateway</html>')]);
    await expect(harness.client.get(Pods, key, never)).rejects.toMatchObject({ status: 502, reason: 'Unknown' });
  });

  test('429 is retried after the time that the server asks for', async () => {
    await using harness = await start([status(429, {}, { 'retry-after': '3' }), ok]);
    const started = harness.clock.monotonic();
    await withTime(
      harness.clock,
      harness.client.create(ConfigMaps, { metadata: { namespace: 'ns', name: 'a' } }, never),
    );
    expect(harness.clock.monotonic() - started).toBe(3000);
    expect(harness.server.requests).toHaveLength(2);
  });

  test('a get is retried when its connection is closed', async () => {
    await using harness = await start([hangUp, hangUp, ok]);
    await withTime(harness.clock, harness.client.get(Pods, key, never));
    expect(harness.server.requests).toHaveLength(3);
  });

  test('a create whose connection is closed is never sent again', async () => {
    await using harness = await start([hangUp, ok]);
    const create = harness.client.create(ConfigMaps, { metadata: { namespace: 'ns', name: 'a' } }, never);
    await expect(withTime(harness.clock, create)).rejects.toMatchObject({
      name: 'ConnectionError',
      mayHaveBeenSent: true,
    });
    expect(harness.server.requests).toHaveLength(1);
  });

  test('a create on a kept-alive connection that was closed is never sent again either', async () => {
    await using harness = await start([ok, hangUp, ok]);
    await harness.client.get(Pods, key, never);
    const create = harness.client.create(ConfigMaps, { metadata: { namespace: 'ns', name: 'a' } }, never);
    await expect(withTime(harness.clock, create)).rejects.toMatchObject({ mayHaveBeenSent: true });
    expect(harness.server.requests).toHaveLength(2);
  });

  test('a create that could not connect is retried', async () => {
    await using harness = await start([ok]);
    await harness.server[Symbol.asyncDispose]();
    const create = harness.client.create(ConfigMaps, { metadata: { namespace: 'ns', name: 'a' } }, never);
    await expect(withTime(harness.clock, create)).rejects.toMatchObject({
      code: 'ECONNREFUSED',
      mayHaveBeenSent: false,
    });
    expect(harness.clock.monotonic()).toBe(100 + 200 + 400);
  });

  const repeated: readonly { name: string; call: (client: Client) => Promise<unknown>; times: number }[] = [
    {
      name: 'an update without a resourceVersion',
      times: 1,
      call: (client) => client.update(Namespaces, { metadata: { name: 'n' } }, never),
    },
    {
      name: 'an update with a resourceVersion',
      times: 2,
      call: (client) => client.update(Namespaces, { metadata: { name: 'n', resourceVersion: '1' } }, never),
    },
    { name: 'a delete by name', times: 1, call: (client) => client.delete(Pods, key, {}, never) },
    {
      name: 'a delete by uid',
      times: 2,
      call: (client) => client.delete(Pods, key, { preconditions: { uid: 'u' } }, never),
    },
    { name: 'a merge patch', times: 1, call: (client) => client.patch(Pods, key, { type: 'merge', body: {} }, never) },
    { name: 'an apply', times: 2, call: (client) => client.patch(Pods, key, { type: 'apply', body: {} }, never) },
  ];
  for (const { name, call, times } of repeated) {
    test(`${name} is sent ${times === 1 ? 'once' : 'again'} when its connection is lost`, async () => {
      await using harness = await start([hangUp, ok]);
      await withTime(harness.clock, call(harness.client)).catch(() => undefined);
      expect(harness.server.requests).toHaveLength(times);
    });
  }

  test('401 leads to new credentials, once', async () => {
    let generation = 1;
    const credentials: Credentials = {
      current: () => ({ tls: {}, headers: ['Authorization', `Bearer ${generation}`] }),
      rejected: () => generation++,
    };
    await using harness = await start([status(401, { reason: 'Unauthorized' })], { credentials });
    await expect(harness.client.get(Pods, key, never)).rejects.toMatchObject({ reason: 'Unauthorized' });
    expect(harness.server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
  });

  test('a request without a response times out', async () => {
    await using harness = await start([silence]);
    const create = harness.client.create(ConfigMaps, { metadata: { namespace: 'ns', name: 'a' } }, never);
    const failure = create.catch((error: unknown) => error);
    while (harness.server.requests.length === 0) await settle();
    await harness.clock.advance(10_000);
    expect(await failure).toMatchObject({ name: 'ConnectionError', code: 'ETIMEDOUT', mayHaveBeenSent: true });
  });

  test('a request of a closed client fails at once, without a retry', async () => {
    await using harness = await start([ok]);
    harness.transport.close();
    const watch = harness.client.watch(Pods, {}, never)[Symbol.asyncIterator]();
    for (const call of [harness.client.get(Pods, key, never), watch.next()]) {
      const error: unknown = await call.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason: 'ClientClosed' });
      expect([isClientClosed(error), isConnectionError(error)]).toEqual([true, false]);
    }
    expect(harness.server.requests).toEqual([]);
  });
});

test('the stack of an error names the way of the request, from the connection up to the verb', async () => {
  await using harness = await start([hangUp]);
  const error = await harness.client.create(Namespaces, { metadata: { name: 'a' } }, never).catch((e: unknown) => e);
  expect((error as Error).stack).toMatch(/\/transport\.ts[^]*\/requester\.ts[^]*\/rest\.ts/);
});

describe('aborts', () => {
  test('an abort rejects with its reason, closes the connection and leaves no listener', async () => {
    await using harness = await start([silence]);
    const controller = new AbortController();
    const get = harness.client.get(Pods, key, controller.signal).catch((error: unknown) => error);
    while (harness.server.requests.length === 0) await settle();
    const [socket] = harness.server.sockets;
    const closed = socket === undefined ? undefined : once(socket, 'close');
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await get).toBe(reason);
    await closed;
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(harness.clock.pendingTimers).toBe(0);
  });

  test('an aborted signal sends nothing', async () => {
    await using harness = await start([ok]);
    await expect(harness.client.get(Pods, key, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
    expect(harness.server.connections).toBe(0);
  });

  test('a finished request leaves no timer and no listener', async () => {
    await using harness = await start([ok]);
    const { signal } = new AbortController();
    await harness.client.get(Pods, key, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(harness.clock.pendingTimers).toBe(0);
  });
});

describe('watch', () => {
  const event = (name: string): string => `${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`;
  const streaming: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(event('a') + event('b'));
  };

  test('ends when the server ends the stream', async () => {
    await using harness = await start([(response) => response.end(event('a'))]);
    const names: unknown[] = [];
    for await (const { type } of harness.client.watch(Pods, { resourceVersion: '5', timeoutSeconds: 9 }, never))
      names.push(type);
    expect(names).toEqual(['ADDED']);
    expect(harness.server.requests[0]?.path).toBe('/prefix/api/v1/pods?watch=true&resourceVersion=5&timeoutSeconds=9');
  });

  test('an abort closes the connection at once and throws the reason', async () => {
    await using harness = await start([streaming]);
    const controller = new AbortController();
    const reason = new Error('enough');
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { type } of harness.client.watch(Pods, {}, controller.signal)) {
        seen.push(type);
        if (seen.length === 2) setImmediate(() => controller.abort(reason));
      }
    })();
    await expect(watching).rejects.toBe(reason);
    const [socket] = harness.server.sockets;
    if (socket !== undefined) await once(socket, 'close');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('leaving the loop closes the connection', async () => {
    await using harness = await start([streaming]);
    const { signal } = new AbortController();
    for await (const events of harness.client.watchBatches(Pods, {}, signal)) {
      expect(events).toHaveLength(2);
      break;
    }
    const [socket] = harness.server.sockets;
    if (socket !== undefined) await once(socket, 'close');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(harness.clock.pendingTimers).toBe(0);
  });

  test('a lost connection throws', async () => {
    await using harness = await start([
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write(event('a'), () => response.socket?.destroy());
      },
    ]);
    const watching = (async () => {
      for await (const _ of harness.client.watch(Pods, {}, never)) continue;
    })();
    await expect(watching).rejects.toMatchObject({ name: 'ConnectionError' });
  });

  test('an error response whose body does not end times out, and the watch is retried', async () => {
    const answered = Promise.withResolvers<void>();
    const observer = { requestFinished: () => answered.resolve() };
    const stuck: Answer = (response) => response.writeHead(502).write('<html>');
    await using harness = await start([stuck, status(410, { reason: 'Expired' })], { observer });
    const watching = harness.client.watch(Pods, {}, never)[Symbol.asyncIterator]().next();
    const failure = watching.catch((caught: unknown) => caught);
    await answered.promise;
    await harness.clock.advance(10_000);
    expect(isExpired(await withTime(harness.clock, failure))).toBe(true);
    expect(harness.server.requests).toHaveLength(2);
  });

  test('an error response throws', async () => {
    await using harness = await start([status(410, { reason: 'Expired' })]);
    const iterator = harness.client.watch(Pods, {}, never)[Symbol.asyncIterator]();
    const error: unknown = await iterator.next().catch((caught: unknown) => caught);
    expect(isExpired(error)).toBe(true);
  });
});

describe('observer and rate limit', () => {
  test('the observer is called for every attempt, with sizes and code', async () => {
    const heard: FinishedRequest[] = [];
    const observer = { requestFinished: (request: FinishedRequest) => void heard.push(request) };
    await using harness = await start([hangUp, json({}, 201)], { observer });
    await withTime(harness.clock, harness.client.get(Pods, key, never));
    const host = new URL(harness.server.url).host;
    expect(heard).toMatchObject([
      { verb: 'GET', host, code: '<error>', requestBytes: 0, responseBytes: 0 },
      { verb: 'GET', host, code: '201', requestBytes: 0, responseBytes: 2 },
    ]);
  });

  test('requests beyond the rate wait, and an abort ends the wait', async () => {
    await using harness = await start([ok], { qps: 1 });
    await harness.client.get(Pods, key, never);
    const second = harness.client.get(Pods, key, never);
    await settle();
    expect(harness.server.requests).toHaveLength(1);
    await withTime(harness.clock, second);
    expect(harness.clock.monotonic()).toBe(1000);
    const controller = new AbortController();
    const third = harness.client.get(Pods, key, controller.signal);
    controller.abort(new Error('enough'));
    await expect(third).rejects.toThrow('enough');
  });

  test('the observer is called for clients that share connections', () => {
    const heard: unknown[] = [];
    const observer = {
      requestFinished() {},
      connectionsTaken: (shared: boolean) => void heard.push(shared),
      connectionsClosed: () => void heard.push('closed'),
    };
    const tls = {};
    const connection = {
      address: { url: 'https://127.0.0.1:1' },
      credentials: staticCredentials({ tls, headers: [] }),
      anonymousTls: () => tls,
    };
    const builder = new ClientBuilder({ connection, clock: new FakeClock(), userAgent: 'test', observer });
    builder.clientFor('a');
    builder.processClientFor('b');
    builder.close();
    expect(heard).toEqual([false, true, 'closed']);
  });
});

describe('the format of a watch', () => {
  const json = 'application/json';
  const protobuf = 'application/vnd.kubernetes.protobuf';
  const partial = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const custom = defineKind({ group: 'example.com', version: 'v1', kind: 'A', resource: 'as', namespaced: true });
  const rows = [
    { name: 'is protobuf for a kind that is described', kind: Pods, accept: `${protobuf},${json}` },
    { name: 'is JSON for a custom resource', kind: custom, accept: json },
    {
      name: 'is protobuf for metadata, also of a custom resource',
      kind: metadataOf(custom),
      accept: `${protobuf}${partial},${json}${partial},${json}`,
    },
  ];
  const frames =
    (...events: Buffer[]): Answer =>
    (response) => {
      response.writeHead(200, { 'content-type': `${protobuf};stream=watch` });
      response.end(Buffer.concat(events));
    };
  const lines: Answer = (response) => response.end('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n');
  const added = watchFrame('ADDED', envelope('v1', 'Pod', field(1, field(1, 'a'))));

  async function namesOf(client: Client, kind: Kind): Promise<string[]> {
    const names: string[] = [];
    for await (const event of client.watch(kind, {}, never)) {
      if (event.type !== 'BOOKMARK') names.push(event.object.metadata.name);
    }
    return names;
  }

  for (const { name, kind, accept } of rows) {
    test(name, async () => {
      await using harness = await start([lines]);
      expect(await namesOf(harness.client, kind)).toEqual(['a']); // a server may answer with JSON
      expect(harness.server.requests[0]?.headers.accept).toBe(accept);
    });
  }

  test('is JSON if the client is to ask for it', async () => {
    await using harness = await start([lines], { watchFormat: 'json' });
    await namesOf(harness.client, Pods);
    expect(harness.server.requests[0]?.headers.accept).toBe(json);
  });

  test('is read from the response', async () => {
    await using harness = await start([frames(added)]);
    expect(await namesOf(harness.client, Pods)).toEqual(['a']);
  });

  test('is JSON after bytes that are not protobuf, and the watch does not continue where it was', async () => {
    await using harness = await start([frames(added, watchFrame('MODIFIED', Buffer.from('?'))), lines]);
    const failure = await namesOf(harness.client, Pods).catch((caught: unknown) => caught);
    expect([isConnectionError(failure), isUndecodable(failure)]).toEqual([true, true]);
    expect(await namesOf(harness.client, Pods)).toEqual(['a']);
    expect(harness.server.requests.map(({ headers }) => headers.accept)).toEqual([`${protobuf},${json}`, json]);
  });

  test('is that of its errors too', async () => {
    const refusal = envelope('v1', 'Status', message(field(3, 'too old'), field(4, 'Expired'), field(6, 410n)));
    await using harness = await start([
      (response) => {
        response.writeHead(410, { 'content-type': protobuf });
        response.end(refusal);
      },
    ]);
    const failure = await namesOf(harness.client, Pods).catch((caught: unknown) => caught);
    expect(isExpired(failure)).toBe(true);
    expect(failure).toMatchObject({ message: 'watch pods: too old' });
  });
});
