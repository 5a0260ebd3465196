import { describe, expect, test } from 'vitest';

import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { json, LoopbackServer, silence, status } from '../../test/support/loopback-server.ts';
import { ConfigMaps, objectKey } from '../api/index.ts';
import { staticCredentials } from './credentials.ts';
import { RestClient } from './rest.ts';
import { Transport } from './transport.ts';

const never = new AbortController().signal;
const key = objectKey('ns', 'a');
const object = { metadata: { namespace: 'ns', name: 'a' } };

class LostError extends Error {}

/** A client that may write until `lose` is called. */
function createGuarded(url: string, clock: FakeClock) {
  const transport = new Transport({ url }, clock);
  let isLost = false;
  const client = new RestClient({
    name: 'test',
    transport,
    credentials: staticCredentials({ tls: {}, headers: [] }),
    clock,
    random: () => 0,
    userAgent: 'test/v1',
    timeoutMs: 10_000,
    guard() {
      if (isLost) throw new LostError('lost');
    },
  });
  const lose = (): void => {
    isLost = true;
  };
  return { client, lose, [Symbol.dispose]: () => transport.close() };
}

describe('a guarded client', () => {
  test('sends no write once its guard throws, and still reads', async () => {
    await using server = await LoopbackServer.start(json(object));
    using guarded = createGuarded(server.url, new FakeClock());
    const { client } = guarded;
    await client.create(ConfigMaps, object, never);
    guarded.lose();
    await expect(client.create(ConfigMaps, object, never)).rejects.toBeInstanceOf(LostError);
    await expect(client.update(ConfigMaps, object, never)).rejects.toBeInstanceOf(LostError);
    await expect(client.delete(ConfigMaps, key, {}, never)).rejects.toBeInstanceOf(LostError);
    await client.get(ConfigMaps, key, never);
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  test('calls its guard again before a retry', async () => {
    await using server = await LoopbackServer.start(status(429, {}, { 'retry-after': '1' }), json(object));
    const clock = new FakeClock();
    using guarded = createGuarded(server.url, clock);
    const created = guarded.client.create(ConfigMaps, object, never).catch((error: unknown) => error);
    while (clock.nextTimerMs !== 1000) await settle();
    guarded.lose();
    await clock.advance(1000);
    expect(await created).toBeInstanceOf(LostError);
    expect(server.requests).toHaveLength(1);
  });

  test('calls its guard again when a write that waited for a connection gets one', async () => {
    await using server = await LoopbackServer.start(silence);
    using guarded = createGuarded(server.url, new FakeClock());
    const writes: Promise<unknown>[] = [];
    const write = (): void => {
      writes.push(guarded.client.create(ConfigMaps, object, never).catch((error: unknown) => error));
    };
    write();
    while (server.requests.length === 0) await settle();
    // More than the limit: the others wait until a connection is free.
    for (let index = 0; index < 200; index += 1) write();
    let before: number;
    do {
      before = server.requests.length;
      for (let turn = 0; turn < 50; turn += 1) await settle();
    } while (server.requests.length > before);
    expect(before).toBeLessThan(writes.length);
    guarded.lose();
    for (const socket of server.sockets) socket.destroy();
    await Promise.all(writes);
    expect(server.requests).toHaveLength(before);
  });
});
