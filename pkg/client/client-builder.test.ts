import { describe, expect, test } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';
import { json, LoopbackServer, silence, type Answer } from '../../test/support/loopback-server.ts';
import { systemClock } from '../time/index.ts';
import { ClientBuilder, type ClientBuilderOptions } from './client-builder.ts';
import type { Client } from './client.ts';
import { staticCredentials } from './credentials.ts';
import type { Connection } from './kubeconfig.ts';
import type { TlsIdentity } from './tls-options.ts';

const never = new AbortController().signal;

function build(url: string, anonymousTls: Connection['anonymousTls'], options: Partial<ClientBuilderOptions> = {}) {
  const credentials = staticCredentials({ tls: {}, headers: [] });
  const connection = { address: { url }, credentials, anonymousTls };
  return new ClientBuilder({ connection, clock: systemClock, userAgent: 'test', ...options });
}

const ask = (client: Client, path: string, signal = never): Promise<unknown> =>
  client.request({ method: 'GET', path }, signal);

test('a separate set of connections is usable while requests fill the others', async ({ signal }) => {
  const slow: Answer = (response, request) => (request.path === '/slow' ? silence : json({}))(response, request);
  await using server = await LoopbackServer.start(slow);
  const builder = build(server.url, () => ({}));
  const lease = builder.processClientFor('leader-election', { connections: 'leader-election' });
  const stop = new AbortController();
  const clients = Array.from({ length: 40 }, (_, index) => builder.clientFor(`controller-${index}`));
  const filling = clients.flatMap((client) => Array.from({ length: 20 }, () => ask(client, '/slow', stop.signal)));
  const filled = Promise.allSettled(filling);
  await eventually(async () => server.requests.length >= 80, signal);
  for (let round = 0; round < 10; round++) expect(await ask(lease, '/lease')).toEqual({});
  expect(await ask(builder.clientFor('new-controller'), '/')).toEqual({});
  stop.abort(new Error('enough'));
  await filled;
  builder.close();
});

describe('service account clients whose tokens were issued before and after a rotation', () => {
  const rows: readonly { name: string; rotated: TlsIdentity; connections: number }[] = [
    // One connection of the process, which requests the tokens, and one for both clients.
    { name: 'of the client certificate share a connection', rotated: { ca: 'a' }, connections: 2 },
    { name: 'of the authority get one new connection', rotated: { ca: 'b' }, connections: 3 },
  ];
  for (const { name, rotated, connections } of rows) {
    test(name, async () => {
      const expirationTimestamp = new Date(Date.now() + 3_600_000).toISOString();
      await using server = await LoopbackServer.start(json({ status: { token: 't', expirationTimestamp } }));
      let anonymousTls: TlsIdentity = { ca: 'a' };
      const builder = build(server.url, () => anonymousTls, { serviceAccountNamespace: 'kube-system' });
      const [before, after] = [builder.clientFor('before'), builder.clientFor('after')];
      await ask(before, '/');
      anonymousTls = rotated;
      for (let round = 0; round < 5; round++) {
        await ask(after, '/');
        await ask(before, '/');
      }
      expect(server.connections).toBe(connections);
      builder.close();
    });
  }
});
