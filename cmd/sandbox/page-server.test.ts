import { once } from 'node:events';
import { request as send, type OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { RecordingLogger } from '../../test/support/loggers.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { createLoopPages, Loop } from '../../pkg/loop/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startPageServer } from './page-server.ts';
import type { Try } from './tries.ts';

const described = { label: '', description: '', resources: [], fields: [] };

async function setUp() {
  const ran: unknown[] = [];
  const tries: readonly Try[] = [
    {
      ...described,
      id: 'scale',
      run: async (input) => {
        const { replicas } = z.object({ replicas: z.coerce.number().int().max(10) }).parse(input);
        ran.push(replicas);
        return `scaled to ${replicas}`;
      },
    },
    { ...described, id: 'fail', run: async () => Promise.reject(new Error('pods "a" not found')) },
  ];
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const loop = new Loop(systemClock);
  const pages = createLoopPages({ loop, clock: systemClock, settings: { name: 'test', tries: [] }, files: new Map() });
  const sandbox = { endWatches() {}, delayRequests() {} };
  const deps = { client: new RecordingClient(), sandbox, clock, random: () => 0 };
  const server = await startPageServer({ pages, tries, deps, logger });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { host, origin } = new URL(server.url);
  const own = { host, origin, 'content-type': 'application/json' };
  /** Not fetch: it would not send these headers as they are. */
  const ask = async (path: string, options: { method?: string; headers?: OutgoingHttpHeaders; body?: string } = {}) => {
    const { method = 'GET', headers = {}, body = '' } = options;
    const request = send(`${server.url}${path}`, { method, headers, agent: false });
    request.end(body);
    const [response] = await once(request, 'response');
    return { code: response.statusCode, type: response.headers['content-type'], body: await text(response) };
  };
  const post = (path: string, headers: OutgoingHttpHeaders, body = '{"replicas":"3"}') =>
    ask(path, { method: 'POST', headers, body });
  return { server, ask, post, own, host, ran, logger };
}

describe('the page', () => {
  test('is served on loopback', async () => {
    const { server, ask } = await setUp();
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(await ask('settings')).toMatchObject({ code: 200, body: '{"name":"test","tries":[]}' });
    expect((await ask('none')).code).toBe(404);
  });

  test('has no body on HEAD', async () => {
    const { ask } = await setUp();
    expect(await ask('settings', { method: 'HEAD' })).toMatchObject({ code: 200, body: '' });
  });

  test('is served by the name of this machine, and by no other', async () => {
    const { ask, host } = await setUp();
    const asked = async (name: string): Promise<number> => (await ask('settings', { headers: { host: name } })).code;
    expect(await asked(host.replace('127.0.0.1', 'localhost'))).toBe(200);
    expect(await asked('evil.example')).toBe(421);
    expect(await asked(host.replace('127.0.0.1', 'evil.example'))).toBe(421);
    expect(await asked('127.0.0.1')).toBe(421);
  });

  test('streams end with the server', async () => {
    const { server, logger } = await setUp();
    const request = send(`${server.url}stream`, { agent: false });
    request.on('error', () => {});
    request.end();
    const [response] = await once(request, 'response');
    response.on('error', () => {});
    await once(response, 'data');
    const closed = new Promise((resolve) => response.once('close', resolve));
    await server[Symbol.asyncDispose]();
    await closed;
    expect(logger.lines).toEqual([]);
  });
});

describe('a try', () => {
  test('runs, and tells what it did', async () => {
    const { post, own, ran } = await setUp();
    const answer = await post('try/scale', own);
    expect(answer).toEqual({ code: 200, type: 'application/json', body: '{"told":"scaled to 3"}' });
    expect(ran).toEqual([3]);
  });

  test('may be asked for by the name of this machine, and with a charset', async () => {
    const { post, own, ran } = await setUp();
    const named = { ...own, origin: own.origin.replace('127.0.0.1', 'localhost') };
    await post('try/scale', { ...named, 'content-type': 'application/json; charset=utf-8' });
    expect(ran).toEqual([3]);
  });

  const refusals = [
    { name: 'without an origin', path: 'try/scale', change: { origin: undefined }, code: 403 },
    { name: 'from another site', path: 'try/scale', change: { origin: 'https://evil.example' }, code: 403 },
    { name: 'from a hidden origin', path: 'try/scale', change: { origin: 'null' }, code: 403 },
    { name: 'from another port', path: 'try/scale', change: { origin: 'http://127.0.0.1:1' }, code: 403 },
    { name: 'by another name', path: 'try/scale', change: { host: 'evil.example' }, code: 421 },
    { name: 'as a form', path: 'try/scale', change: { 'content-type': 'text/plain' }, code: 415 },
    { name: 'without a type', path: 'try/scale', change: { 'content-type': undefined }, code: 415 },
    { name: 'that does not exist', path: 'try/none', change: {}, code: 404 },
    { name: 'without a name', path: 'try/', change: {}, code: 404 },
  ];
  for (const { name, path, change, code } of refusals) {
    test(`is refused ${name}`, async () => {
      const { post, own, ran } = await setUp();
      const headers = Object.entries({ ...own, ...change }).filter(([, value]) => value !== undefined);
      const answer = await post(path, Object.fromEntries(headers));
      expect(answer.code).toBe(code);
      expect(JSON.parse(answer.body)).toMatchObject({ problem: true });
      expect(ran).toEqual([]);
    });
  }

  test('is refused if it is not posted', async () => {
    const { ask, own, ran } = await setUp();
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await ask('try/scale', { method, headers: own })).code).toBe(405);
    }
    expect(ran).toEqual([]);
  });

  const problems = [
    { name: 'a bad field', path: 'try/scale', body: '{"replicas":"many"}', told: 'replicas' },
    { name: 'a missing field', path: 'try/scale', body: '{}', told: 'replicas' },
    { name: 'a body that is not JSON', path: 'try/scale', body: '{', told: 'JSON' },
    { name: 'the error of the API', path: 'try/fail', body: '{}', told: 'pods "a" not found' },
  ];
  for (const { name, path, body, told } of problems) {
    test(`tells ${name} as a problem`, async () => {
      const { post, own, ran } = await setUp();
      const answer = await post(path, own, body);
      expect(answer.code).toBe(200);
      expect(JSON.parse(answer.body)).toEqual({ told: expect.stringContaining(told), problem: true });
      expect(ran).toEqual([]);
    });
  }
});
