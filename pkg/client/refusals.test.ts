import { describe, expect, test } from 'vitest';

import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { hangUp, json, LoopbackServer, status, type Answer } from '../../test/support/loopback-server.ts';
import { objectKey, Pods } from '../api/index.ts';
import { staticCredentials } from './credentials.ts';
import { RestClient } from './rest.ts';
import { Transport } from './transport.ts';

const never = new AbortController().signal;
const key = objectKey('ns', 'a');
const ok = json({ metadata: { name: 'a' } });
const attempted = 'get pods ns/a';

/** What an observer was told during one request. */
async function observe(...answers: readonly Answer[]): Promise<readonly unknown[]> {
  await using server = await LoopbackServer.start(...answers);
  const clock = new FakeClock();
  const transport = new Transport({ url: server.url }, clock);
  const told: unknown[] = [];
  const client = new RestClient({
    name: 'test',
    transport,
    credentials: staticCredentials({ tls: {}, headers: [] }),
    clock,
    random: () => 0,
    userAgent: 'test/v1',
    timeoutMs: 10_000,
    observer: {
      requestFinished: (request) => void told.push([request.attempted, request.code]),
      requestRefused: (request) => void told.push(request),
    },
  });
  const progress = { done: false };
  const call = client.get(Pods, key, never).then(
    () => undefined,
    () => undefined,
  );
  const ended = call.then(() => (progress.done = true));
  while (!progress.done) {
    await settle();
    if ((clock.nextTimerMs ?? Infinity) < 10_000) await clock.advance(clock.nextTimerMs ?? 0); // the delay of a retry
  }
  await ended;
  transport.close();
  return told;
}

describe('an observer of requests', () => {
  test('is told the message of a refusal, after the end of the request', async () => {
    const refusal = status(403, { reason: 'Forbidden', message: 'exceeded quota' });
    expect(await observe(refusal)).toEqual([[attempted, '403'], { attempted, message: 'exceeded quota' }]);
  });

  test('is told each refusal of a request that is repeated', async () => {
    const busy = status(429, { message: 'not yet' }, { 'retry-after': '1' });
    expect(await observe(busy, ok)).toEqual([
      [attempted, '429'],
      { attempted, message: 'not yet' },
      [attempted, '200'],
    ]);
  });

  test('is told no refusal of a request that was accepted', async () => {
    expect(await observe(ok)).toEqual([[attempted, '200']]);
  });

  test('is told no refusal of a request without a response', async () => {
    const told = await observe(hangUp, ok);
    expect(told.at(0)).toEqual([attempted, '<error>']);
    expect(told.at(-1)).toEqual([attempted, '200']);
  });
});
