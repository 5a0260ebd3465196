import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';

import { afterEach, describe, expect, test } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { certificate, privateKey } from '../../test/support/loopback-certificate.ts';
import { systemClock, type Clock } from '../time/index.ts';
import type { HttpAnswer } from './exchange.ts';
import { defaultLaneLimits } from './request-lanes.ts';
import { Transport } from './transport.ts';

const tls = { ca: certificate };
const never = new AbortController().signal;
const sockets = new Set<Socket>();
let server: Server | TcpServer;
let transport: Transport;
let accepted = 0;
/** Responses that have not been sent, by path. */
let held: { readonly path: string; readonly response: ServerResponse }[] = [];

async function listen(clock: Clock): Promise<void> {
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  transport = new Transport({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }, clock);
}

/** Delays the responses to paths below `/slow` and sends all others at once. */
async function startServer(clock: Clock = systemClock): Promise<void> {
  server = createServer({ cert: certificate, key: privateKey }, ({ url: path = '' }, response) => {
    if (path.startsWith('/slow')) held.push({ path, response });
    else response.end();
  });
  await listen(clock);
}

interface Sent {
  readonly client?: string;
  readonly namespace?: string;
  readonly signal?: AbortSignal;
  readonly identity?: object;
  readonly timeoutMs?: number;
}

function send(path: string, sent: Sent = {}): Promise<HttpAnswer> {
  const { client = 'a', namespace = 'x', signal = never, identity = tls, timeoutMs = 60_000 } = sent;
  const lane = { client, namespace };
  return transport.send({ method: 'GET', path, headers: [], tls: identity, timeoutMs }, lane, signal);
}

function sendMany(count: number, path: string, sent?: Sent): Promise<PromiseSettledResult<HttpAnswer>[]> {
  return Promise.allSettled(Array.from({ length: count }, () => send(path, sent)));
}

function answerAll(): void {
  for (const { response } of held.splice(0)) response.end();
}

afterEach(() => {
  transport.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  server.close();
  accepted = 0;
  held = [];
});

describe('while a slow namespace has more requests than its limit', () => {
  test('other namespaces of the same client and other clients get their responses', async ({ signal }) => {
    await startServer();
    const slow = sendMany(200, '/slow');
    await eventually(async () => held.length === defaultLaneLimits.lane, signal);
    expect((await send('/', { namespace: 'y' })).status).toBe(200);
    expect((await send('/', { client: 'b' })).status).toBe(200);
    expect(held).toHaveLength(defaultLaneLimits.lane);
    const answering = setInterval(answerAll, 1);
    const answers = await slow;
    clearInterval(answering);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(200);
  });

  test('a request that waits in its lane is aborted at once, and never sent', async ({ signal }) => {
    await startServer();
    const slow = sendMany(64, '/slow');
    await eventually(async () => held.length === 64, signal);
    const stop = new AbortController();
    const waiting = send('/slow/aborted', { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    answerAll();
    await slow;
    await send('/');
    expect(held).toEqual([]);
  });

  test('a request that waits in its lane times out, and is never sent', async ({ signal }) => {
    const clock = new FakeClock();
    await startServer(clock);
    const slow = sendMany(64, '/slow');
    await eventually(async () => held.length === 64, signal);
    const waiting = send('/slow/late', { timeoutMs: 1000 }).catch((error: unknown) => error);
    await clock.advance(1000);
    expect(String(await waiting)).toMatch(/no connection within 1000 ms/);
    answerAll();
    await slow;
    await send('/');
    expect(held).toEqual([]);
  });
});

test('a busy lane opens no more connections than its limit of requests in flight', async () => {
  await startServer();
  for (let round = 0; round < 5; round++) await sendMany(200, '/');
  expect(accepted).toBeLessThanOrEqual(defaultLaneLimits.lane);
});

test('a request that cannot be sent frees its place in the lane', async () => {
  await startServer();
  const failed = await sendMany(100, '/a path');
  expect(failed.filter(({ status }) => status === 'rejected')).toHaveLength(100);
  expect((await send('/')).status).toBe(200);
});

test('requests that wait fail when the client is closed', async ({ signal }) => {
  await startServer();
  const slow = sendMany(80, '/slow');
  await eventually(async () => held.length === 64, signal);
  transport.close();
  expect((await slow).filter(({ status }) => status === 'rejected')).toHaveLength(80);
});

describe('while handshakes hang', () => {
  /** Accepts connections and sends nothing. */
  async function startMuteServer(clock: Clock): Promise<void> {
    server = createTcpServer((socket) => socket.resume());
    await listen(clock);
  }

  test('requests are aborted at once, those that wait for their handshake too', async ({ signal }) => {
    await startMuteServer(systemClock);
    const stop = new AbortController();
    const waiting = sendMany(20, '/', { signal: stop.signal });
    await eventually(async () => accepted === 2, signal);
    stop.abort(new Error('enough'));
    for (const result of await waiting) expect(result).toMatchObject({ reason: { message: 'enough' } });
    await eventually(async () => sockets.size === 0, signal);
    expect(accepted).toBe(2);
  });

  test('requests use the connection that becomes free', async ({ signal }) => {
    const working = createServer({ cert: certificate, key: privateKey }, (_, response) => void response.end());
    server = createTcpServer((socket) => void (accepted === 0 ? working.emit('connection', socket) : socket.resume()));
    await listen(systemClock);
    await send('/');
    let answers = 0;
    const count = (): number => ++answers;
    const all = Array.from({ length: 20 }, () => send('/').then(count));
    await eventually(async () => answers === 18, signal);
    expect(accepted).toBe(3);
    transport.close();
    await Promise.allSettled(all);
  });

  test('no request that waits is sent after the client is closed', async ({ signal }) => {
    await startMuteServer(systemClock);
    const waiting = sendMany(20, '/');
    await eventually(async () => accepted === 2, signal);
    transport.close();
    for (const result of await waiting) expect(result.status).toBe('rejected');
    await eventually(async () => sockets.size === 0, signal);
    expect(accepted).toBe(2);
  });

  test('requests time out, those that wait for their handshake too', async ({ signal }) => {
    const clock = new FakeClock();
    await startMuteServer(clock);
    const first = sendMany(2, '/');
    const waiting = sendMany(20, '/', { timeoutMs: 1000 });
    await eventually(async () => accepted === 2, signal);
    await clock.advance(1000);
    for (const result of await waiting) expect(result.status).toBe('rejected');
    await clock.advance(59_000);
    for (const result of await first) expect(result.status).toBe('rejected');
    await eventually(async () => sockets.size === 0, signal);
    expect(accepted).toBe(2);
  });
});

describe('rotated certificates', () => {
  test('that are equal keep the connection', async () => {
    await startServer();
    const copy = { ...tls };
    for (let round = 0; round < 10; round++) {
      await send('/', { identity: tls });
      await send('/', { identity: copy });
    }
    expect(accepted).toBe(1);
  });

  test('get a new connection, and the old ones are closed', async ({ signal }) => {
    await startServer();
    const slow = send('/slow');
    await send('/');
    await eventually(async () => held.length === 1 && accepted === 2, signal);
    const rotated = { ...tls, cert: certificate, key: privateKey };
    for (let round = 0; round < 10; round++) await send('/', { identity: rotated });
    expect(accepted).toBe(3);
    answerAll();
    await slow;
    await eventually(async () => sockets.size === 1, signal);
  });
});
