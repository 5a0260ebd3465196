import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

import { afterEach, describe, expect, test } from 'vitest';

import { certificate, privateKey } from '../../test/support/loopback-certificate.ts';
import { systemClock } from '../time/index.ts';
import { ConnectionError } from './errors.ts';
import type { HttpStream } from './exchange.ts';
import { Transport } from './transport.ts';

const tls = { ca: certificate };
const stop = new AbortController();
const sockets = new Set<Socket>();
let server: Server;

/** Responds to each request with a line and does not end, like a watch. Supports HTTP/1.1 only. */
async function startServer(): Promise<Transport> {
  server = createServer({ cert: certificate, key: privateKey }, (_request, response) =>
    response.writeHead(200).flushHeaders(),
  );
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new Transport({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }, systemClock);
}

function openAll(transport: Transport, count: number): Promise<PromiseSettledResult<HttpStream>[]> {
  const request = { method: 'GET', path: '/', headers: [], tls, timeoutMs: 60_000 };
  return Promise.allSettled(Array.from({ length: count }, () => transport.open(request, stop.signal)));
}

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

describe('many streams that are opened at once on HTTP/1.1', () => {
  test('all start, and most resume a TLS session instead of verifying certificates again', async () => {
    const transport = await startServer();
    const resumed: boolean[] = [];
    server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
    const opened = await openAll(transport, 32);
    expect(opened.map(({ status }) => status)).toEqual(Array.from({ length: 32 }, () => 'fulfilled'));
    expect(resumed.length).toBeGreaterThanOrEqual(32); // and one to find out the protocol of the server
    expect(resumed.filter(Boolean).length).toBeGreaterThan(16);
  });

  test('do not wait for failed handshakes', async () => {
    const transport = await startServer();
    let connections = 0;
    server.on('connection', (socket) => {
      connections += 1; // the first finds out the protocol of the server
      if (connections > 1 && connections <= 5) socket.destroy();
    });
    const opened = await openAll(transport, 12);
    expect(opened.filter(({ status }) => status === 'rejected')).toHaveLength(4);
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
  });
});

describe('an answer that ends too early', () => {
  const endings = [
    {
      name: 'with its headers',
      end: (response: ServerResponse) => response.writeHead(200, { 'content-length': 9 }).flushHeaders(),
    },
    {
      name: 'in its body',
      end: (response: ServerResponse) => response.writeHead(200, { 'content-length': 9 }).write('ok'),
    },
  ];
  for (const { name, end } of endings) {
    test(`${name} is a lost connection, and no request waits for its timeout`, async () => {
      const transport = await startServer();
      server.removeAllListeners('request');
      server.on('request', (request, response) => {
        end(response);
        setImmediate(() => request.socket.destroy());
      });
      const request = { method: 'PUT', path: '/', headers: [], tls, timeoutMs: 600_000 };
      const sent = Array.from({ length: 200 }, () =>
        transport.send(request, { client: 'a', namespace: 'b' }, stop.signal),
      );
      const answers = await Promise.allSettled(sent);
      expect(answers.every((answer) => answer.status === 'rejected' && answer.reason instanceof ConnectionError)).toBe(
        true,
      );
      transport.close();
    });
  }
});
