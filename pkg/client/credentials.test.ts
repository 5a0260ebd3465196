import { getEventListeners } from 'node:events';

import { describe, expect, test } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { RenewedCredentials, type Identity, type Renewal } from './credentials.ts';

const never = new AbortController().signal;

function setUp(renewals: readonly (Renewal | Error | Promise<Renewal>)[]): {
  readonly credentials: RenewedCredentials;
  readonly clock: FakeClock;
  readonly asked: boolean[];
} {
  const clock = new FakeClock();
  const asked: boolean[] = [];
  const left = [...renewals];
  const credentials = new RenewedCredentials(async (rejected) => {
    asked.push(rejected);
    const next = left.shift() ?? new Error('renewed too often');
    if (next instanceof Error) throw next;
    return next;
  }, clock);
  return { credentials, clock, asked };
}

function renewal(name: string): Renewal {
  return { identity: identity(name), renewAfterMs: 80, expiresAfterMs: 100 };
}

function identity(name: string): Identity {
  return { tls: {}, headers: [name] };
}

describe('RenewedCredentials', () => {
  test('are returned at once until they are due', async () => {
    const { credentials, clock } = setUp([renewal('a'), renewal('b')]);
    expect(await credentials.current(never)).toEqual(identity('a'));
    await clock.advance(79);
    expect(credentials.current(never)).toEqual(identity('a'));
    await clock.advance(1);
    expect(await credentials.current(never)).toEqual(identity('b'));
  });

  test('are renewed once for all callers that wait', async () => {
    const { credentials, asked } = setUp([renewal('a')]);
    const given = await Promise.all([1, 2, 3].map(async () => credentials.current(never)));
    expect(given).toEqual([identity('a'), identity('a'), identity('a')]);
    expect(asked).toEqual([false]);
  });

  test('are renewed when the server has rejected them', async () => {
    const { credentials, asked } = setUp([renewal('a'), renewal('b')]);
    credentials.rejected(await credentials.current(never));
    expect(await credentials.current(never)).toEqual(identity('b'));
    expect(asked).toEqual([false, true]);
  });

  test('are not renewed for the rejection of older ones', async () => {
    const { credentials } = setUp([renewal('a'), renewal('b')]);
    const first = await credentials.current(never);
    credentials.rejected(first);
    const second = await credentials.current(never);
    credentials.rejected(first);
    expect(credentials.current(never)).toBe(second);
  });

  test('are used while they are valid and cannot be renewed, and the renewal is retried later', async () => {
    const { credentials, clock, asked } = setUp([
      { ...renewal('a'), expiresAfterMs: 50_000 },
      new Error('server away'),
      renewal('b'),
    ]);
    await credentials.current(never);
    await clock.advance(80);
    expect(await credentials.current(never)).toEqual(identity('a'));
    expect(credentials.current(never)).toEqual(identity('a'));
    expect(asked).toHaveLength(2);
    await clock.advance(10_000);
    expect(await credentials.current(never)).toEqual(identity('b'));
  });

  test('fail once they have expired and cannot be renewed', async () => {
    const { credentials, clock } = setUp([renewal('a'), new Error('server away')]);
    await credentials.current(never);
    await clock.advance(100);
    await expect(credentials.current(never)).rejects.toThrow('server away');
  });

  test('an abort ends the wait of one caller and not of the other', async () => {
    const { promise, resolve } = Promise.withResolvers<Renewal>();
    const { credentials } = setUp([promise]);
    const controller = new AbortController();
    const aborted = Promise.resolve(credentials.current(controller.signal)).catch((error: unknown) => error);
    const waiting = credentials.current(never);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await aborted).toBe(reason);
    resolve(renewal('a'));
    expect(await waiting).toEqual(identity('a'));
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});
