import { once } from 'node:events';
import { createServer, request } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';

import { certificate, privateKey } from '../../test/support/loopback-certificate.ts';
import { closable } from './index.ts';

async function listen() {
  const server = createServer({ cert: certificate, key: privateKey }, (_request, response) => response.write('begun'));
  const close = closable(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, close, port: (server.address() as AddressInfo).port };
}

test('closes a connection that is in its TLS handshake', async () => {
  const { server, close, port } = await listen();
  const accepted = once(server, 'connection');
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}); // a reset is a way to be closed
  await accepted;
  const closed = once(socket, 'close');
  await close();
  await closed;
  expect(server.listening).toBe(false);
});

test('closes a connection with a request under way', async () => {
  const { server, close, port } = await listen();
  const outgoing = request({ port, host: '127.0.0.1', rejectUnauthorized: false, agent: false });
  const responded = once(outgoing, 'response');
  outgoing.on('error', () => {}); // the response is cut off
  outgoing.end();
  await responded;
  const closed = once(outgoing, 'close');
  await close();
  await closed;
  expect(server.listening).toBe(false);
});

test('does nothing if the server does not listen', async () => {
  const { server, close } = await listen();
  await close();
  await close();
  expect(server.listening).toBe(false);
});
