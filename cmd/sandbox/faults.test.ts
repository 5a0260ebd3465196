import { describe, expect, onTestFinished, test } from 'vitest';

import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { Namespaces, objectKey, type Namespace } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startSandbox, type Sandbox } from '../../pkg/sandbox/index.ts';

/** The server has a clock that stands still; the client has a real one, for its sockets. */
async function setUp(): Promise<{ sandbox: Sandbox; client: Client; clock: FakeClock }> {
  const clock = new FakeClock(systemClock.now()); // certificates are valid from now
  const sandbox = await startSandbox({ clock });
  const connection = await loadKubeconfig({ path: sandbox.kubeconfigFile }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  onTestFinished(async () => {
    clients.close();
    await sandbox.stop();
  });
  return { sandbox, client: clients.clientFor('test'), clock };
}

/** Requests that the server has received and not answered wait for its clock. */
async function untilWaiting(clock: FakeClock, count: number): Promise<void> {
  while (clock.pendingTimers < count) await settle();
}

const key = objectKey(undefined, 'default');

describe('a slow server', () => {
  test('answers each request after the delay, until the time is over', async ({ signal }) => {
    const { sandbox, client, clock } = await setUp();
    const idle = clock.pendingTimers;
    sandbox.delayRequests({ delayMs: 300, forMs: 1000 });
    const progress = { answered: false };
    const asked = client.get(Namespaces, key, signal).finally(() => (progress.answered = true));
    await untilWaiting(clock, idle + 1);
    await clock.advance(299);
    expect(progress.answered).toBe(false);
    await clock.advance(1);
    expect((await asked).metadata.name).toBe('default');
    await clock.advance(700);
    expect((await client.get(Namespaces, key, signal)).metadata.name).toBe('default');
    expect(clock.pendingTimers).toBe(idle);
  });

  test('stops while requests wait', async ({ signal }) => {
    const { sandbox, client, clock } = await setUp();
    const idle = clock.pendingTimers;
    sandbox.delayRequests({ delayMs: 60_000, forMs: 60_000 });
    const abandoned = new AbortController();
    const either = AbortSignal.any([signal, abandoned.signal]);
    const asked = client.get(Namespaces, key, either).catch(() => 'ended');
    await untilWaiting(clock, idle + 1);
    await sandbox.stop();
    abandoned.abort();
    expect(await asked).toBe('ended');
    expect(clock.pendingTimers).toBe(0);
  });
});

test('a watch that the server ends resumes without a loss', async ({ signal }) => {
  const { sandbox, client } = await setUp();
  const { metadata } = await client.list(Namespaces, {}, signal);
  const create = (name: string): Promise<Namespace> => client.create(Namespaces, { metadata: { name } }, signal);
  let resourceVersion = metadata.resourceVersion;
  const names: string[] = [];
  const watch = async (): Promise<void> => {
    for await (const event of client.watch(Namespaces, { resourceVersion }, signal)) {
      if (event.type === 'BOOKMARK') continue;
      names.push(event.object.metadata.name);
      resourceVersion = event.object.metadata.resourceVersion;
      if (event.object.metadata.name.startsWith('cut')) sandbox.endWatches();
      if (event.object.metadata.name === 'last') return;
    }
  };
  const first = watch();
  await create('cut-1');
  await first;
  await create('while-away');
  await create('last');
  await watch();
  expect(names).toEqual(['cut-1', 'while-away', 'last']);
});
