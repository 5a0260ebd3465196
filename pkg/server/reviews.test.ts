import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
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

  test('asks once while the answer is fresh, and again after', async () => {
    const clock = new FakeClock();
    const client = reviewer(known);
    const check = createTokenReview({ client, clock, ttlMs: 10_000, signal });
    await check('t');
    await clock.advance(9999);
    expect(await check('t')).toEqual({ kind: 'user', user: { name: 'jane', groups: ['dev'] } });
    expect(client.asked).toHaveLength(1);
    await clock.advance(1);
    await check('t');
    expect(client.asked).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  test('asks one question for many requests at once, and another for another token', async () => {
    const client = reviewer(known);
    const check = createTokenReview({ client, clock: new FakeClock(), ttlMs: 10_000, signal });
    await Promise.all([check('a'), check('a'), check('b')]);
    expect(client.asked.map(({ body }) => body)).toMatchObject([{ spec: { token: 'a' } }, { spec: { token: 'b' } }]);
  });

  test('asks again when the server stumbles, and remembers no failure', async () => {
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
    { name: 'remembers that a token is wrong', status: { authenticated: false }, kind: 'wrong', cacheable: true },
    {
      name: 'does not remember a verdict that an error explains',
      status: { authenticated: false, error: 'webhook down' },
      kind: 'wrong',
      cacheable: false,
    },
    { name: 'believes no yes without a user', status: { authenticated: true }, kind: 'wrong', cacheable: true },
  ];
  for (const { name, status, kind, cacheable } of rows) {
    test(name, () => expect(decideToken({ status })).toMatchObject({ cacheable, proof: { kind } }));
  }
});

describe('authorize', () => {
  const jane = { name: 'jane', groups: ['dev'] };
  const options = { clock: new FakeClock(), alwaysAllowPaths: ['/healthz'], allowedTtlMs: 10_000, deniedTtlMs: 1000 };
  const metrics = { user: jane, path: '/metrics', verb: 'get' };

  test('lets everyone see open paths, and administrators everything, without a question', async () => {
    const client = reviewer({ allowed: false });
    const authorizer = createAuthorizer({ ...options, client });
    expect(await authorizer.authorize({ ...metrics, path: '/healthz' }, signal)).toEqual({ allowed: true });
    const admin = { name: 'root', groups: ['system:masters'] };
    expect(await authorizer.authorize({ ...metrics, user: admin }, signal)).toEqual({ allowed: true });
    expect(client.asked).toEqual([]);
  });

  test('forbids the rest when there is nobody to ask', async () => {
    expect(await createAuthorizer(options).authorize(metrics, signal)).toEqual({ allowed: false, reason: '' });
  });

  test('asks for path and verb in the name of the user', async () => {
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

  test('remembers yes and no for as long as each flag says', async () => {
    const clock = new FakeClock();
    const client = reviewer({ allowed: false, reason: 'no' }, { allowed: true });
    const authorizer = createAuthorizer({ ...options, clock, client });
    expect(await authorizer.authorize(metrics, signal)).toEqual({ allowed: false, reason: 'no' });
    await clock.advance(999);
    expect(await authorizer.authorize(metrics, signal)).toMatchObject({ allowed: false });
    await clock.advance(1);
    expect(await authorizer.authorize(metrics, signal)).toEqual({ allowed: true });
    await clock.advance(9999);
    await authorizer.authorize(metrics, signal);
    expect(client.asked).toHaveLength(2);
  });

  test('decides nothing when the answer contradicts itself or does not come', async () => {
    const both = createAuthorizer({ ...options, client: reviewer({ allowed: true, denied: true }) });
    await expect(both.authorize(metrics, signal)).rejects.toThrow('both allow and deny');
    const refused = createAuthorizer({ ...options, client: reviewer(apiError(403, 'Forbidden')) });
    await expect(refused.authorize(metrics, signal)).rejects.toThrow();
  });
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
