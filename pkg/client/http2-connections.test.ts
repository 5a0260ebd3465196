import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import { afterEach, describe, expect, test } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { certificate, privateKey } from '../../test/support/loopback-certificate.ts';
import { systemClock, type Clock } from '../time/index.ts';
import { ConnectionClosedError } from './errors.ts';
import type { HttpStream } from './exchange.ts';
import { Transport } from './transport.ts';

const tls = { ca: certificate };
const timeoutMs = 60_000;
const connections = new Set<Socket>();
let server: Http2SecureServer;
let accepted = 0;
let seen: ServerHttp2Stream[] = [];

interface Answering {
  readonly maxConcurrentStreams?: number;
  readonly isMute?: boolean;
  readonly clock?: Clock;
}

/** Responds to each request with a line and does not end, like a watch. */
async function startServer({ maxConcurrentStreams = 100, isMute = false, clock = systemClock }: Answering = {}) {
  server = createSecureServer({ cert: certificate, key: privateKey, settings: { maxConcurrentStreams } });
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    connections.add(socket);
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    seen.push(stream);
    stream.on('error', () => {});
    if (isMute) return;
    stream.respond({ ':status': headers[':path'] === '/missing' ? 404 : 200, 'content-type': 'application/json' });
    stream.write(`${String(headers['authorization'])}\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new Transport({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }, clock);
}

function open(transport: Transport, signal = new AbortController().signal, path = '/'): Promise<HttpStream> {
  return transport.open({ method: 'GET', path, headers: ['authorization', 'Bearer t'], tls, timeoutMs }, signal);
}

const openMany = (transport: Transport, count: number): Promise<HttpStream[]> =>
  Promise.all(Array.from({ length: count }, () => open(transport)));

afterEach(() => {
  for (const socket of connections) socket.destroy();
  connections.clear();
  accepted = 0;
  seen = [];
  server.close();
});

describe('streams to a server that speaks HTTP/2', () => {
  test('share one connection', async () => {
    const opened = await openMany(await startServer(), 60);
    expect(opened.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 200));
    expect(accepted).toBe(1);
  });

  test('return headers, status and body', async () => {
    const transport = await startServer();
    const { status, headers, stream } = await open(transport, undefined, '/missing');
    expect([status, headers['content-type']]).toEqual([404, 'application/json']);
    expect(String((await once(stream, 'data'))[0])).toBe('Bearer t\n');
  });

  test('open a further connection when the first has no free stream', async () => {
    const transport = await startServer({ maxConcurrentStreams: 10 });
    await openMany(transport, 25);
    expect(accepted).toBe(3);
  });

  test('free their place when they end', async ({ signal }) => {
    const transport = await startServer({ maxConcurrentStreams: 10 });
    const ended = await openMany(transport, 10);
    await Promise.all(ended.map(({ stream }) => once(stream.destroy(), 'close')));
    await eventually(async () => seen.length === 10 && seen.every(({ destroyed }) => destroyed), signal);
    await openMany(transport, 10);
    expect(accepted).toBe(1);
  });

  test('end with their connection, and the next ones use a new one', async () => {
    const transport = await startServer();
    const opened = await openMany(transport, 3);
    for (const { stream } of opened) stream.resume();
    const ends = opened.map(({ stream }) => once(stream, 'end').catch((error: unknown) => error));
    for (const socket of connections) socket.destroy();
    for (const end of await Promise.all(ends)) expect(end).toBeInstanceOf(ConnectionClosedError);
    await open(transport);
    expect(accepted).toBe(2);
  });

  test('end when the signal aborts, without effect on the others', async () => {
    const transport = await startServer();
    const stop = new AbortController();
    const [first, second] = await Promise.all([open(transport, stop.signal), open(transport)]);
    const failed = once(first.stream, 'error');
    stop.abort(new Error('enough'));
    expect(((await failed)[0] as Error).message).toBe('enough');
    expect(second.stream.destroyed).toBe(false);
    await open(transport);
    expect(accepted).toBe(1);
  });

  test('reject at once when they are aborted before there is a connection', async () => {
    const transport = await startServer();
    const stop = new AbortController();
    const opening = open(transport, stop.signal);
    stop.abort(new Error('enough'));
    await expect(opening).rejects.toThrow('enough');
  });

  test('reject with the reason of a failed connection', async () => {
    const transport = await startServer();
    server.close();
    await once(server, 'close');
    await expect(open(transport)).rejects.toThrow(/ECONNREFUSED/);
  });
});

test('a connection without settings of the server times out, and the next stream opens a new one', async ({
  signal,
}) => {
  const clock = new FakeClock();
  const mute = createTlsServer({ cert: certificate, key: privateKey, ALPNProtocols: ['h2'] });
  const sockets: Socket[] = [];
  mute.on('secureConnection', (socket) => sockets.push(socket));
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const transport = new Transport({ url: `https://127.0.0.1:${(mute.address() as AddressInfo).port}` }, clock);
  const opening = open(transport).catch((error: unknown) => error);
  await eventually(async () => sockets.length === 1, signal);
  await clock.advance(30_000);
  expect(await opening).toMatchObject({ name: 'ConnectionError', code: 'ETIMEDOUT' });
  expect(String(await opening)).toMatch(/no connection within 30000 ms/);
  const next = open(transport).catch(() => {});
  await eventually(async () => sockets.length === 2, signal);
  for (const socket of sockets) socket.destroy();
  await next;
  mute.close();
});

describe('a connection on which a response timed out', () => {
  test('stays open when the server answers the ping', async ({ signal }) => {
    const clock = new FakeClock();
    const transport = await startServer({ isMute: true, clock });
    const opening = open(transport);
    await eventually(async () => clock.pendingTimers === 1, signal); // the timer of the response: there is a connection
    await Promise.all([clock.advance(timeoutMs), expect(opening).rejects.toThrow(/no answer within 60000 ms/)]);
    await eventually(async () => clock.pendingTimers === 0, signal); // the ping was answered
    const next = open(transport).catch(() => {});
    await eventually(async () => clock.pendingTimers === 1, signal);
    expect(accepted).toBe(1);
    await Promise.all([clock.advance(timeoutMs), next]);
  });

  test('is closed when the server does not answer the ping', async ({ signal }) => {
    const clock = new FakeClock();
    const transport = await startServer({ isMute: true, clock });
    const opening = open(transport);
    await eventually(async () => clock.pendingTimers === 1, signal);
    for (const socket of connections) socket.pause();
    await Promise.all([clock.advance(timeoutMs), expect(opening).rejects.toThrow(/no answer within 60000 ms/)]);
    await clock.advance(5000);
    const next = open(transport).catch(() => {});
    await eventually(async () => accepted === 2, signal);
    await eventually(async () => clock.pendingTimers === 1, signal);
    await Promise.all([clock.advance(timeoutMs), next]);
  });
});
