import { describe, expect, onTestFinished, test } from 'vitest';

import { deployment, pod } from '../../test/support/builders.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { leadInTest } from '../../test/support/loop-harness.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { CoreEvents, Deployments, objectKey, Pods } from '../api/index.ts';
import type { PageFile } from './assets.ts';
import { Loop } from './loop.ts';
import { createLoopPages, type PageAnswer } from './pages.ts';

const files = new Map<string, PageFile>([
  ['', { contentType: 'text/html; charset=utf-8', body: '<html>' }],
  ['page.js', { contentType: 'text/javascript; charset=utf-8', body: 'run()' }],
]);
const settings = { name: 'test', tries: [] };

function setUp(options: { readonly isLeader?: boolean; readonly files?: ReadonlyMap<string, PageFile> } = {}) {
  const clock = new FakeClock();
  const loop = new Loop(clock);
  const harness = leadInTest(loop, clock);
  harness.caches.set(Deployments, deployment({ name: 'web' }));
  if (options.isLeader === false) harness.leave();
  const pages = createLoopPages({ loop, clock, settings, files: options.files ?? files });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const ask = (target: string, method = 'GET'): Promise<PageAnswer> => {
    const { pathname, searchParams } = new URL(target, 'http://localhost/');
    return pages.answer({ method, path: pathname.slice(1), query: searchParams }, stop.signal);
  };
  return { clock, loop, ask, stop, ...harness };
}

/** An answer, after the page has waited for a sync. */
async function patiently(clock: FakeClock, asked: Promise<PageAnswer>, waitMs = 2000): Promise<PageAnswer> {
  await clock.advance(waitMs);
  return asked;
}

function textOf(answer: PageAnswer): string {
  if (!('body' in answer)) throw new Error('the answer is a stream');
  return answer.body.toString();
}

describe('an answer', () => {
  const rows = [
    { path: '', code: 200, type: 'text/html; charset=utf-8', body: '<html>' },
    { path: 'page.js', code: 200, type: 'text/javascript; charset=utf-8', body: 'run()' },
    { path: 'settings', code: 200, type: 'application/json', body: '{"name":"test","tries":[]}' },
    { path: 'other', code: 404, type: 'text/plain; charset=utf-8', body: 'not found\n' },
    { path: '../package.json', code: 404, type: 'text/plain; charset=utf-8', body: 'not found\n' },
    { path: 'objects/deployments/default', code: 404, type: 'text/plain; charset=utf-8', body: 'not found\n' },
    { path: 'objects/unknown/default/web', code: 404, type: 'text/plain; charset=utf-8', body: 'not found\n' },
    { path: 'objects/pods/default/%zz', code: 404, type: 'text/plain; charset=utf-8', body: 'not found\n' },
    { path: 'objects/deployments/default/none', code: 404, type: 'text/plain; charset=utf-8', body: 'not found\n' },
    { path: 'stream?object=unknown/default/web', code: 404, type: 'text/plain; charset=utf-8', body: 'not found\n' },
    { path: 'stream?object=deployments', code: 404, type: 'text/plain; charset=utf-8', body: 'not found\n' },
  ];
  for (const { path, code, type, body } of rows) {
    test(`to /${path} is ${code}, with strict headers`, async () => {
      const { clock, ask } = setUp();
      const answer = await patiently(clock, ask(path));
      expect([answer.code, answer.headers['Content-Type'], textOf(answer)]).toEqual([code, type, body]);
      expect(answer.headers).toMatchObject({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' });
      const policy = answer.headers['Content-Security-Policy'] ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(clock.pendingTimers).toBe(0);
    });
  }

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    test(`to ${method} is 405`, async () => {
      expect(await setUp().ask('settings', method)).toMatchObject({ code: 405, headers: { Allow: 'GET, HEAD' } });
    });
  }

  test('to HEAD is that to GET', async () => {
    const { ask } = setUp();
    expect(await ask('settings', 'HEAD')).toEqual(await ask('settings'));
  });

  test('is 503 if the page is not built', async () => {
    const { ask } = setUp({ files: new Map() });
    expect((await ask('')).code).toBe(503);
    expect((await ask('settings')).code).toBe(200);
  });

  test('is 503 for objects while another process leads', async () => {
    const answer = await setUp({ isLeader: false }).ask('objects/deployments/default/web');
    expect([answer.code, textOf(answer)]).toEqual([503, 'another process leads: ask there\n']);
  });
});

describe('the page of an object', () => {
  function setUpSynced() {
    const parts = setUp();
    const store = parts.storeOf(Deployments);
    parts.work(async (key) => {
      store.get(key);
      return { requeueAfterMs: 60_000 };
    });
    return parts;
  }

  test('has the sync that it asked for, as JSON', async () => {
    const { clock, ask } = setUpSynced();
    await settle();
    const answer = await patiently(clock, ask('objects/deployments.apps/default/web'), 50);
    expect(answer.headers).toMatchObject({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    expect(JSON.parse(textOf(answer))).toMatchObject({
      kind: 'Deployment',
      exists: true,
      text: '0 of 1 available',
      waits: [{ controller: 'deployment-controller', state: 'delayed', ms: 59_950, retries: 0 }],
      history: [{ outcome: 'requeue_after', reads: ['Deployment default/web at version 1'] }],
    });
  });

  test('is text on request', async () => {
    const { clock, ask, client } = setUpSynced();
    client.seed(CoreEvents, {
      metadata: { namespace: 'default', name: 'web.1' },
      involvedObject: { kind: 'Deployment', name: 'web' },
      type: 'Normal',
      reason: 'ScalingReplicaSet',
      message: 'Scaled up',
      lastTimestamp: '2026-01-01T00:00:00Z',
    });
    await settle();
    const answer = await patiently(clock, ask('objects/deployment/default/web?format=text'), 50);
    expect(answer.headers['Content-Type']).toBe('text/plain; charset=utf-8');
    expect(textOf(answer)).toBe(`Deployment default/web: 0 of 1 available

Waits:
  deployment-controller syncs it in 59.95s

Reconciles:
  2026-01-01T00:00:00.000Z deployment-controller: requeue_after in 0.0 ms, again in 1m0s
    read Deployment default/web at version 1

Events:
  2026-01-01T00:00:00Z Normal ScalingReplicaSet (1×): Scaled up

Reads, plans and requests are recorded since 2026-01-01T00:00:00.000Z.
`);
  });

  test('does not wait longer than a second for a sync', async () => {
    const { clock, ask } = setUp();
    const asked = ask('objects/deployments/default/web');
    await clock.advance(1000);
    expect((await asked).code).toBe(200);
    expect(clock.pendingTimers).toBe(0);
  });

  test('has no events if the API does not answer', async () => {
    const { clock, ask, client } = setUpSynced();
    client.before('list', () => {
      throw apiError(503, 'ServiceUnavailable');
    });
    await settle();
    const answer = await patiently(clock, ask('objects/deployments/default/web'), 50);
    expect(JSON.parse(textOf(answer))).toMatchObject({
      exists: true,
      events: [],
      history: [{ outcome: 'requeue_after' }],
    });
  });
});

interface Message {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads a stream as a browser does. */
function read(answer: PageAnswer) {
  if (!('stream' in answer)) throw new Error('the answer is no stream');
  const messages: Message[] = [];
  const state = { ended: false };
  answer.stream.on('data', (message: string) => {
    const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(message) ?? [];
    messages.push({ event, data: JSON.parse(data) });
  });
  answer.stream.on('end', () => (state.ended = true));
  const take = (): string[] => messages.splice(0).map(({ event }) => event);
  return { messages, state, take };
}

describe('the stream', () => {
  test('sends the picture and the loop, then changes at once and the loop every second', async () => {
    const { clock, ask, caches } = setUp();
    const answer = await ask('stream');
    expect(answer.headers).toMatchObject({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    const { messages, take } = read(answer);
    await clock.advance(1);
    expect(messages[0]?.data).toMatchObject({ items: [{ name: 'web' }], total: 1 });
    expect(messages[1]?.data).toMatchObject({ lanes: [], caches: [{ name: 'deployments.apps' }] });
    expect(take()).toEqual(['picture', 'loop']);
    await clock.advance(500);
    caches.set(Pods, pod({ name: 'a' }), pod({ name: 'b' }));
    await clock.advance(250);
    expect(messages[0]?.data).toMatchObject({ changed: [{ name: 'a' }, { name: 'b' }], total: 3 });
    expect(take()).toEqual(['changes']);
    await clock.advance(2000);
    expect(take()).toEqual(['loop', 'loop']);
  });

  test('has what the filter of its query shows', async () => {
    const { clock, ask, caches } = setUp();
    caches.set(Pods, pod({ name: 'a' }), pod({ name: 'b', namespace: 'shop' }));
    const { messages } = read(await ask('stream?namespace=shop&kind=Pod&name=b'));
    await clock.advance(1);
    expect(messages[0]?.data).toMatchObject({ items: [{ name: 'b' }], total: 1 });
  });

  test('begins anew with another term as leader', async () => {
    const { clock, loop, ask, leave } = setUp();
    const { take } = read(await ask('stream'));
    await clock.advance(1);
    leave();
    leadInTest(loop, clock);
    take();
    await clock.advance(250);
    expect(take()).toEqual(['picture']);
  });

  test('of an object sends its page when it has changed, and the loop every second', async () => {
    const { clock, ask, caches } = setUp();
    const { messages, take } = read(await ask('stream?object=deployments.apps/default/web'));
    await clock.advance(1);
    expect(messages[0]?.data).toMatchObject({ kind: 'Deployment', name: 'web', exists: true });
    expect(take()).toEqual(['object', 'loop']);
    await clock.advance(2000);
    expect(take()).toEqual(['loop', 'loop']);
    caches.delete(Deployments, deployment({ name: 'web' }));
    await clock.advance(1000);
    expect(messages[0]?.data).toMatchObject({ name: 'web', exists: false });
    expect(take()).toEqual(['object', 'loop']);
  });

  for (const target of ['stream', 'stream?object=deployments.apps/default/web']) {
    test(`${target} ends on abort, and leaves nothing running`, async () => {
      const { clock, ask, stop } = setUp();
      const { state } = read(await ask(target));
      await clock.advance(5000);
      expect([state.ended, clock.pendingTimers]).toEqual([false, 1]);
      stop.abort();
      await settle();
      expect([state.ended, clock.pendingTimers]).toEqual([true, 0]);
    });
  }

  test('keeps the history of its object until it ends', async () => {
    const { clock, loop, ask, work, stop } = setUp();
    const { queue } = work(async () => ({}));
    read(await ask('stream?object=deployments.apps/default/web'));
    await clock.advance(1); // follows the object, and has it synced
    for (let index = 0; index < 1000; index++) queue.add(objectKey('default', `other-${index}`));
    await clock.advance(1);
    const path = { kind: Deployments, key: objectKey('default', 'web'), namespace: 'default', name: 'web' };
    expect(loop.objectPage(path, [])?.history).toHaveLength(1);
    stop.abort();
    await settle();
    expect(loop.objectPage(path, [])?.history).toEqual([]);
  });

  test('that nobody reads sends what has changed since as one message', async () => {
    const { clock, ask, caches } = setUp();
    const answer = await ask('stream');
    if (!('stream' in answer)) throw new Error('the answer is no stream');
    const reader = answer.stream.iterator();
    for (let message = 0; message < 2; message++) await reader.next();
    await clock.advance(250); // the reader stops; one message is ready, and the next is not computed
    for (let index = 0; index < 100; index++) {
      caches.set(Pods, pod({ name: `pod-${index}` }));
      await clock.advance(250);
    }
    const seen: string[] = [];
    for (let message = 0; message < 3; message++) {
      const next = reader.next();
      await clock.advance(250);
      seen.push(String((await next).value));
    }
    const changes = seen.filter((message) => message.startsWith('event: changes'));
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.length).toBeLessThan(4);
    expect(changes.join('').match(/"name":"pod-/g)).toHaveLength(100);
  });
});
