import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import { Session } from 'node:inspector/promises';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createSharedInformerFactory } from '../informers/index.ts';
import { Pods, ReplicaSets, type Pod, type ReplicaSet } from '../pkg/api/index.ts';
import { ClientBuilder, staticCredentials } from '../pkg/client/index.ts';
import { enqueueControllerOwner, runWorkers, type ReconcileResult } from '../pkg/controller/index.ts';
import { systemClock } from '../pkg/time/index.ts';
import { createWorkQueue } from '../workqueue/index.ts';
import { entry, envelope, field, message, watchFrame } from './support/encode-protobuf.ts';
import { silentLogger } from './support/loggers.ts';
import { certificate, privateKey } from './support/loopback-certificate.ts';

const root = join(import.meta.dirname, '..');
const document = readFileSync(join(root, 'docs/path-of-an-event.md'), 'utf8');
/** Where the path leads. What a controller and its rules do is not part of it. */
const engine = /^(?:informers|workqueue|pkg\/(?:client|controller|protobuf|time|fifo))\//;

function boxes(label: RegExp): string[] {
  return [...document.matchAll(/^ │ (\S+) +(\S+\.ts) *│/gm)]
    .filter(([, name = '']) => label.test(name))
    .map(([, , file = '']) => file);
}

test('an event is drawn in ten boxes, each a file', () => {
  const labels = [...document.matchAll(/^ │ (\d+) /gm)].map(([, label]) => Number(label));
  expect(labels).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(boxes(/^\d+$/)).toHaveLength(10);
});

test('an event passes the files that the document draws, and no other that it does not name', async () => {
  await using server = await WatchServer.start();
  const passed = await filesPassed(server);
  const drawn = [...boxes(/^\d+$/), ...boxes(/^[a-e]$/)];
  expect(drawn.filter((file) => !passed.has(file))).toEqual([]);
  expect([...passed].filter((file) => engine.test(file) && !document.includes(file))).toEqual([]);
});

/** Runs a small controller, and returns the files that run: from its watch, and a change of a pod, to a status. */
async function filesPassed(server: WatchServer): Promise<ReadonlySet<string>> {
  const stop = new AbortController();
  const { signal } = stop;
  const tls = { ca: certificate };
  const connection = {
    address: { url: server.url },
    credentials: staticCredentials({ tls, headers: [] }),
    anonymousTls: () => tls,
  };
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  const client = clients.clientFor('test');
  const informers = createSharedInformerFactory({ client, clock: systemClock, logger: silentLogger });
  const queue = createWorkQueue({ name: 'test', clock: systemClock });
  const pods = informers.informerFor(Pods);
  pods.addHandler(enqueueControllerOwner<Pod>(queue, ReplicaSets));
  const reconcile = async (): Promise<ReconcileResult> => {
    await client.updateStatus(ReplicaSets, owner, signal);
    return {};
  };
  const context = { logger: silentLogger, clock: systemClock, reconciles: { finished() {} } };
  using coverage = await Coverage.start();
  informers.start(signal);
  const working = runWorkers({ name: 'test', context, queue, reconcile, caches: [pods], workers: 1 }, signal);
  try {
    await server.written(1); // for the initial list
    server.changePod();
    await server.written(2);
    return await coverage.files();
  } finally {
    stop.abort();
    await working;
    await informers.shutdown();
    clients.close();
  }
}

const owner: ReplicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { namespace: 'default', name: 'web', uid: 'owner', resourceVersion: '1' },
  spec: { selector: {} },
} as ReplicaSet;

function podFrame(type: string, resourceVersion: number): Buffer {
  const reference = message(
    field(1, 'ReplicaSet'),
    field(3, 'web'),
    field(4, 'owner'),
    field(5, 'apps/v1'),
    field(6, 1n),
  );
  const names = [field(1, 'web-1'), field(3, 'default'), field(5, 'pod'), field(6, String(resourceVersion))];
  const metadata = message(...names, field(13, reference), field(17, 'managed fields'));
  return watchFrame(type, envelope('v1', 'Pod', field(1, metadata)));
}

function bookmarkFrame(resourceVersion: number): Buffer {
  const end = field(12, entry('k8s.io/initial-events-end', 'true'));
  const metadata = message(field(6, String(resourceVersion)), end);
  return watchFrame('BOOKMARK', envelope('v1', 'Pod', field(1, metadata)));
}

/** An API server with one pod: it streams the pod over HTTP/2, and counts writes, which come over HTTP/1.1. */
class WatchServer implements AsyncDisposable {
  readonly #server: Http2SecureServer;
  readonly #sockets = new Set<Socket>();
  #watch: ServerHttp2Stream | undefined;
  #resourceVersion = 10;
  #writes = 0;

  private constructor() {
    this.#server = createSecureServer({ cert: certificate, key: privateKey, allowHTTP1: true });
    this.#server.on('connection', (socket: Socket) => this.#sockets.add(socket));
    this.#server.on('stream', (stream: ServerHttp2Stream) => {
      this.#watch = stream;
      stream.on('error', () => {}); // the client closes it
      stream.respond({ ':status': 200, 'content-type': 'application/vnd.kubernetes.protobuf;stream=watch' });
      const initial = [podFrame('ADDED', this.#resourceVersion), bookmarkFrame(this.#resourceVersion)];
      const bytes = Buffer.concat(initial);
      stream.write(bytes.subarray(0, 50)); // a frame arrives in several chunks
      stream.write(bytes.subarray(50));
    });
    this.#server.on('request', (request, response) => {
      if (request.httpVersionMajor !== 1) return;
      request.resume();
      request.on('end', () => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(owner));
        this.#writes += 1;
        this.#server.emit('written');
      });
    });
  }

  static async start(): Promise<WatchServer> {
    const started = new WatchServer();
    started.#server.listen(0, '127.0.0.1');
    await once(started.#server, 'listening');
    return started;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  changePod(): void {
    this.#resourceVersion += 1;
    this.#watch?.write(podFrame('MODIFIED', this.#resourceVersion));
  }

  async written(count: number): Promise<void> {
    while (this.#writes < count) await once(this.#server, 'written');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** The functions that V8 runs from the start on. */
class Coverage implements Disposable {
  readonly #session = new Session();

  static async start(): Promise<Coverage> {
    const coverage = new Coverage();
    coverage.#session.connect();
    await coverage.#session.post('Profiler.enable');
    await coverage.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return coverage;
  }

  async files(): Promise<ReadonlySet<string>> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    // Functions without a name may be getters that Vitest adds for what a module exports.
    const hasRun = ({ functionName, ranges }: (typeof result)[number]['functions'][number]): boolean =>
      functionName !== '' && (ranges[0]?.count ?? 0) > 0;
    const ran = result.filter(({ functions }) => functions.some(hasRun));
    return new Set(ran.map(({ url }) => url.replace(/^file:\/\//, '').replace(`${root}/`, '')));
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }
}
