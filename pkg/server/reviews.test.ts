import { describe, expect, test } from 'vitest';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { apiError } from '../../test/support/recording-client.ts';
import type { RawRequest } from '../client/index.ts';
import { createAuthorizer } from './authorization.ts';
import { ExpiringCache } from './expiring-cache.ts';
import { createTokenReview, decideToken } from './token-review.ts';

const { signal } = new AbortController();

/** Answers reviews from a list, the last one over and over. */
function reviewer(...answers: readonly (object | Error)[]): {
  readonly asked: RawRequest[];
  request(request: RawRequest): Promise<unknown>;
} {
  const asked: RawRequest[] = [];
  return {
    asked,
    async request(request) {
      asked.push(request);
      const answer = answers[Math.min(asked.length, answers.length) - 1];
      if (answer instanceof Error) throw answer;
      return { status: answer };
    },
  };
}

describe('createTokenReview', () => {
  const known = { authenticated: true, user: { username: 'jane', groups: ['dev'] } };

  test('caches the result until its time to live has passed', async () => {
    const clock = new FakeClock();
    const client = reviewer(known);
    const check = createTokenReview({ client, clock, ttlMs: 10_000, signal });
    await check('t');
    await clock.advance(9999);
    expect(await check('t')).toEqual({ kind: 'user', user: { name: 'jane', groups: ['dev'] } });
    expect(client.asked).toHaveLength(1);
    await clock.advance(2);
    await check('t');
    expect(client.asked).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  test('requests with the same token share a review, another token has its own', async () => {
    const client = reviewer(known);
    const check = createTokenReview({ client, clock: new FakeClock(), ttlMs: 10_000, signal });
    await Promise.all([check('a'), check('a'), check('b')]);
    expect(client.asked.map(({ body }) => body)).toMatchObject([{ spec: { token: 'a' } }, { spec: { token: 'b' } }]);
  });

  test('retries after a server error, and does not cache failures', async () => {
    const clock = new FakeClock();
    const client = reviewer(apiError(500, 'InternalError'), apiError(403, 'Forbidden'), known);
    const check = createTokenReview({ client, clock, ttlMs: 10_000, signal });
    const first = check('t');
    await clock.advance(500);
    expect(await first).toMatchObject({ kind: 'wrong' });
    expect(await check('t')).toMatchObject({ kind: 'user' });
    expect(client.asked).toHaveLength(3);
  });
});

describe('decideToken', () => {
  const rows = [
    { name: 'caches a wrong token', status: { authenticated: false }, kind: 'wrong', cacheable: true },
    {
      name: 'does not cache a status with an error',
      status: { authenticated: false, error: 'webhook down' },
      kind: 'wrong',
      cacheable: false,
    },
    {
      name: 'rejects an authenticated status without a user',
      status: { authenticated: true },
      kind: 'wrong',
      cacheable: true,
    },
  ];
  for (const { name, status, kind, cacheable } of rows) {
    test(name, () => expect(decideToken({ status })).toMatchObject({ cacheable, proof: { kind } }));
  }
});

describe('authorize', () => {
  const jane = { name: 'jane', groups: ['dev'] };
  const options = { clock: new FakeClock(), alwaysAllowPaths: ['/healthz'], allowedTtlMs: 10_000, deniedTtlMs: 1000 };
  const metrics = { user: jane, path: '/metrics', verb: 'get' };

  test('allows always-allowed paths to everyone and everything to administrators, without a review', async () => {
    const client = reviewer({ allowed: false });
    const authorizer = createAuthorizer({ ...options, client });
    expect(await authorizer.authorize({ ...metrics, path: '/healthz' }, signal)).toEqual({ allowed: true });
    const admin = { name: 'root', groups: ['system:masters'] };
    expect(await authorizer.authorize({ ...metrics, user: admin }, signal)).toEqual({ allowed: true });
    expect(client.asked).toEqual([]);
  });

  test('forbids the rest without a client', async () => {
    expect(await createAuthorizer(options).authorize(metrics, signal)).toEqual({ allowed: false, reason: '' });
  });

  test('reviews path and verb for the user', async () => {
    const client = reviewer({ allowed: true });
    await createAuthorizer({ ...options, client }).authorize(metrics, signal);
    expect(client.asked).toMatchObject([
      {
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: { spec: { user: 'jane', groups: ['dev'], nonResourceAttributes: { path: '/metrics', verb: 'get' } } },
      },
    ]);
  });

  test('caches allowed and denied results for the time of their flags', async () => {
    const clock = new FakeClock();
    const client = reviewer({ allowed: false, reason: 'no' }, { allowed: true });
    const authorizer = createAuthorizer({ ...options, clock, client });
    expect(await authorizer.authorize(metrics, signal)).toEqual({ allowed: false, reason: 'no' });
    await clock.advance(999);
    expect(await authorizer.authorize(metrics, signal)).toMatchObject({ allowed: false });
    await clock.advance(2);
    expect(await authorizer.authorize(metrics, signal)).toEqual({ allowed: true });
    await clock.advance(9999);
    await authorizer.authorize(metrics, signal);
    expect(client.asked).toHaveLength(2);
  });

  test('rejects when the result is contradictory or absent', async () => {
    const both = createAuthorizer({ ...options, client: reviewer({ allowed: true, denied: true }) });
    await expect(both.authorize(metrics, signal)).rejects.toThrow('both allows and denies');
    const refused = createAuthorizer({ ...options, client: reviewer(apiError(403, 'Forbidden')) });
    await expect(refused.authorize(metrics, signal)).rejects.toThrow();
  });
});

/** Both kinds of review, as a stranger can cause them: each question is new. */
const floods = [
  {
    name: 'token reviews',
    flood(client: ReturnType<typeof reviewer>, clock: FakeClock): (index: number) => Promise<unknown> {
      const check = createTokenReview({ client, clock, ttlMs: 10_000, signal });
      return (index) => check(`token-${index}`);
    },
  },
  {
    name: 'subject access reviews',
    flood(client: ReturnType<typeof reviewer>, clock: FakeClock): (index: number) => Promise<unknown> {
      const ttl = { allowedTtlMs: 10_000, deniedTtlMs: 10_000 };
      const authorizer = createAuthorizer({ client, clock, alwaysAllowPaths: [], ...ttl });
      const user = { name: 'system:anonymous', groups: [] };
      return (index) => authorizer.authorize({ user, path: `/${index}`, verb: 'get' }, signal).catch(String);
    },
  },
];

for (const { name, flood } of floods) {
  describe(`a flood of ${name}`, () => {
    test('sends 400 at once and then 200 a second, however many are asked for', async () => {
      const clock = new FakeClock();
      const client = reviewer({ authenticated: false, allowed: false });
      const ask = flood(client, clock);
      const answers = Array.from({ length: 1000 }, (_, index) => ask(index));
      await settle();
      expect(client.asked).toHaveLength(400);
      await clock.advance(1000);
      expect(client.asked).toHaveLength(600);
      await clock.advance(2000);
      expect(client.asked).toHaveLength(1000);
      await Promise.all(answers);
      expect(clock.pendingTimers).toBe(0);
    });

    test('lets no request wait for more than 5 s', async () => {
      const clock = new FakeClock();
      const client = reviewer({ authenticated: false, allowed: false });
      const ask = flood(client, clock);
      let answered = 0;
      const answers = Array.from({ length: 5000 }, async (_, index) => {
        await ask(index);
        answered += 1;
      });
      await settle();
      // 400 have their answer, 1000 wait for their turn, and the others were turned away at once.
      expect(answered).toBe(4000);
      expect(client.asked).toHaveLength(400);
      await clock.advance(5000);
      await Promise.all(answers);
      expect(client.asked).toHaveLength(1400);
      expect(clock.pendingTimers).toBe(0);
    });
  });
}

test('a request whose client has disconnected frees its place', async () => {
  const clock = new FakeClock();
  const client = reviewer({ allowed: true });
  const authorizer = createAuthorizer({ client, clock, alwaysAllowPaths: [], allowedTtlMs: 0, deniedTtlMs: 0 });
  const user = { name: 'system:anonymous', groups: [] };
  const ask = (path: string, until: AbortSignal): Promise<unknown> =>
    authorizer.authorize({ user, path, verb: 'get' }, until).catch(String);
  const gone = new AbortController();
  const abandoned = Array.from({ length: 1400 }, (_, index) => ask(`/${index}`, gone.signal));
  await settle();
  gone.abort(new Error('the client has disconnected'));
  await Promise.all(abandoned);
  const answer = ask('/metrics', signal);
  await clock.advance(5);
  expect(await answer).toEqual({ allowed: true });
});

describe('ExpiringCache', () => {
  test('gives up the entry that was asked for longest ago when it is full', () => {
    const cache = new ExpiringCache<number>(new FakeClock(), 2);
    cache.set('a', 1, 1000);
    cache.set('b', 2, 1000);
    cache.get('a');
    cache.set('c', 3, 1000);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
  });

  test('keeps nothing for no time', () => {
    const cache = new ExpiringCache<number>(new FakeClock(), 2);
    cache.set('a', 1, 0);
    expect(cache.get('a')).toBeUndefined();
  });
});
