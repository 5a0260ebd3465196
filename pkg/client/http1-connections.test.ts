import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';

import { afterEach, describe, expect, test } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';
import { certificate, privateKey } from '../../test/support/loopback-certificate.ts';
import { systemClock } from '../time/index.ts';
import { isConnectionError } from './errors.ts';
import type { HttpAnswer } from './exchange.ts';
import { Transport } from './transport.ts';

const never = new AbortController().signal;
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
let server: Server;
let transport: Transport;
let sockets: Socket[] = [];

/** Calls `receive` with each piece that a connection gets, and the number of the connection, from 0. */
async function startServer(receive: (socket: Socket, index: number) => void): Promise<void> {
  server = createTcpServer((socket) => {
    const index = sockets.push(socket) - 1;
    socket.on('error', () => undefined); // the client may close it first
    socket.on('data', () => receive(socket, index));
  });
  transport = new Transport({ url: `http://127.0.0.1:${await listen()}` }, systemClock);
}

async function listen(): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function send(method = 'GET', { signal = never, tls = {}, body, guard }: Sent = {}): Promise<HttpAnswer> {
  const headers = body === undefined ? [] : ['content-length', String(body.length)];
  const request = { method, path: '/', headers, tls, timeoutMs: 600_000, body, guard };
  return transport.send(request, { client: 'a', namespace: 'b' }, signal);
}

interface Sent {
  readonly signal?: AbortSignal;
  readonly tls?: object;
  readonly body?: string;
  readonly guard?: () => void;
}

afterEach(() => {
  transport.close();
  for (const socket of sockets) socket.destroy();
  server.close();
  sockets = [];
});

describe('a connection', () => {
  test('is used again for the next request', async () => {
    await startServer((socket) => socket.write(ok));
    for (let round = 0; round < 5; round++) expect((await send()).body.toString()).toBe('ok');
    expect(sockets).toHaveLength(1);
  });

  test('is used again after an abort that comes with the answer', async () => {
    const stop = new AbortController();
    await startServer((socket) => socket.write(ok));
    await send('GET', { signal: stop.signal });
    stop.abort();
    await send();
    expect(sockets).toHaveLength(1);
  });

  test('of a refused write is not closed under the next request by the abort that follows', async () => {
    await startServer((socket) => socket.write(ok));
    const stop = new AbortController();
    const guard = (): void => {
      queueMicrotask(() => stop.abort());
      throw new Error('the lease is lost');
    };
    const refused = send('POST', { signal: stop.signal, guard, body: '{}' }).catch((reason: unknown) => reason);
    // Two may connect at once. When the refused one is connected, the third may connect, and the fourth gets its connection.
    const others = await Promise.all([send(), send(), send()]);
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await refused).toBeInstanceOf(Error);
  });

  test('that the server closes while it is idle is not used again', async ({ signal }) => {
    await startServer((socket) => socket.write(ok));
    await send();
    const [first] = sockets;
    first?.end();
    await eventually(async () => first?.destroyed === true, signal);
    expect((await send()).status).toBe(200);
    expect(sockets).toHaveLength(2);
  });

  test('that the server closes after its answer is not used again', async () => {
    await startServer((socket) => socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'));
    for (let round = 0; round < 3; round++) expect((await send()).body.toString()).toBe('ok');
    expect(sockets).toHaveLength(3);
  });

  test('ends an answer without a length', async () => {
    await startServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhello'));
    expect((await send()).body.toString()).toBe('hello');
  });

  test('on which the server sends what nobody has asked for is closed', async ({ signal }) => {
    await startServer((socket) => socket.write(ok));
    await send();
    const [first] = sockets;
    first?.write('HTTP/1.1 408 Request Timeout\r\n\r\n');
    await eventually(async () => first?.destroyed === true, signal);
    expect((await send()).status).toBe(200);
  });

  test('whose server answers before it has read the request is not used again', async () => {
    server = createTcpServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n'); // and reads nothing
    });
    transport = new Transport({ url: `http://127.0.0.1:${await listen()}` }, systemClock);
    const large = 'x'.repeat(50_000_000);
    expect((await send('PUT', { body: large })).status).toBe(413);
    expect((await send('PUT', { body: large })).status).toBe(413);
    expect(sockets).toHaveLength(2);
  });

  test('resumes the TLS session of the one before', async () => {
    const resumed: boolean[] = [];
    server = createTlsServer({ cert: certificate, key: privateKey }, (socket: TLSSocket) => {
      resumed.push(socket.isSessionReused());
      socket.on('error', () => undefined);
      socket.on('data', () => socket.end(ok.replace('OK', 'OK\r\nConnection: close')));
    });
    transport = new Transport({ url: `https://127.0.0.1:${await listen()}` }, systemClock);
    for (let round = 0; round < 3; round++) await send('GET', { tls: { ca: certificate } });
    expect(resumed).toEqual([false, true, true]);
  });
});

describe('an answer that cannot be read', () => {
  test('is a lost connection, after which a write may have been executed, and the next request has a new one', async () => {
    await startServer((socket, index) => socket.write(index === 0 ? 'SSH-2.0-OpenSSH_9.9\r\n\r\n' : ok));
    const error: unknown = await send('POST', { body: '{}' }).catch((reason: unknown) => reason);
    expect(isConnectionError(error)).toBe(true);
    expect(error).toMatchObject({ mayHaveBeenSent: true, message: expect.stringMatching(/is not HTTP\/1.1$/) });
    expect((await send()).status).toBe(200);
    expect(sockets).toHaveLength(2);
  });
});
