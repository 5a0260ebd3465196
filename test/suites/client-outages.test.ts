import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ConfigMaps, objectKey } from '../../pkg/api/index.ts';
import {
  ApiError,
  ClientBuilder,
  isAlreadyExists,
  connectionErrorOf,
  isConnectionError,
  isExpired,
  isTooLargeResourceVersion,
  loadKubeconfig,
  type Client,
} from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { eventually } from '../support/eventually.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const namespace = 'default';
let builder: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  builder = new ClientBuilder({ connection, clock: systemClock, userAgent: 'client-outages' });
  client = builder.clientFor('suite');
});
afterAll(() => builder.close());

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function drain(events: AsyncIterable<unknown>, onEvent: () => void = () => undefined): Promise<void> {
  for await (const _ of events) onEvent();
}

/** Creates objects until it is stopped. The result of each create is known, or reported as unknown. */
async function createUntil(stopped: { now: boolean }, prefix: string, signal: AbortSignal): Promise<Outcome> {
  const outcome: Outcome = { created: [], unknown: [], refused: [] };
  for (let count = 0; !stopped.now; count++) {
    const name = `${prefix}-${count}`;
    // A generated name: a create sent twice would leave two objects where one was asked for.
    const metadata = { namespace, generateName: `${name}-`, labels: { wanted: name } };
    const error = await errorOf(client.create(ConfigMaps, { metadata }, signal));
    if (error === undefined) outcome.created.push(name);
    else if (connectionErrorOf(error)?.mayHaveBeenSent === true) outcome.unknown.push(name);
    else if (isConnectionError(error)) outcome.refused.push(name);
    else if (error instanceof ApiError && error.status >= 500) outcome.unknown.push(name);
    else throw new Error(`create ${name}`, { cause: error });
  }
  return outcome;
}

interface Outcome {
  readonly created: string[];
  readonly unknown: string[];
  readonly refused: string[];
}

describe('a server that stops', () => {
  for (const way of ['kill', 'stop'] as const) {
    test(`no create is lost or done twice when the server is stopped by ${way} during many creates`, async ({
      signal,
    }) => {
      const stopped = { now: false };
      const workers = Array.from({ length: 16 }, (_, worker) => createUntil(stopped, `${way}-${worker}`, signal));
      for (let round = 0; round < 2; round++) {
        const { metadata } = await eventually(() => client.list(ConfigMaps, { namespace, limit: 1 }, signal), signal);
        await eventually(async () => {
          const options = { namespace, resourceVersion: metadata.resourceVersion };
          for await (const _ of client.watch(ConfigMaps, options, signal)) return true; // creates are in flight
          return false;
        }, signal);
        await cluster().apiServer[way]();
        await cluster().apiServer.start();
      }
      stopped.now = true;
      const outcomes = await Promise.all(workers);
      const wanted = (kind: keyof Outcome): string[] => outcomes.flatMap((outcome) => outcome[kind]);
      const { items } = await client.listAll(ConfigMaps, { namespace }, signal);
      const found = new Map<string, number>();
      for (const { metadata } of items) {
        const name = metadata.labels?.['wanted'] ?? '';
        if (name.startsWith(way)) found.set(name, (found.get(name) ?? 0) + 1);
      }
      expect([...found].filter(([, times]) => times > 1)).toEqual([]);
      expect(wanted('created').filter((name) => !found.has(name))).toEqual([]);
      expect(wanted('refused').filter((name) => found.has(name))).toEqual([]);
      expect(wanted('created').length).toBeGreaterThan(0);
    });
  }

  test('a watch throws when the server is killed, and the client reconnects', async ({ signal }) => {
    const { metadata } = await client.list(ConfigMaps, { namespace }, signal);
    const { promise: seen, resolve: onSeen } = Promise.withResolvers<void>();
    const options = { namespace, resourceVersion: metadata.resourceVersion };
    const ended = errorOf(drain(client.watch(ConfigMaps, options, signal), onSeen));
    await client.create(ConfigMaps, { metadata: { namespace, name: 'before' } }, signal);
    await seen;
    await cluster().apiServer.kill();
    expect(isConnectionError(await ended)).toBe(true);
    await cluster().apiServer.start();
    expect((await client.get(ConfigMaps, objectKey(namespace, 'before'), signal)).metadata.name).toBe('before');
  });

  test('a server that no longer responds is detected by an idle watch', async ({ signal }) => {
    const { metadata } = await client.list(ConfigMaps, { namespace }, signal);
    const options = { namespace, resourceVersion: metadata.resourceVersion, idleTimeoutMs: 2000 };
    const iterator = client.watch(ConfigMaps, options, signal)[Symbol.asyncIterator]();
    const next = iterator.next();
    await client.create(ConfigMaps, { metadata: { namespace, name: 'heard' } }, signal);
    await next;
    cluster().apiServer.pause();
    const error = await errorOf(iterator.next());
    cluster().apiServer.resume();
    expect(isConnectionError(error)).toBe(true);
    expect(String(error)).toContain('no data for');
  });

  test('an abort ends a request and a watch to a server that does not respond', async ({ signal }) => {
    const controller = new AbortController();
    const { metadata } = await client.list(ConfigMaps, { namespace }, signal);
    const options = { namespace, resourceVersion: metadata.resourceVersion };
    const watching = errorOf(drain(client.watch(ConfigMaps, options, controller.signal)));
    await eventually(() => client.list(ConfigMaps, { namespace, limit: 1 }, signal), signal);
    cluster().apiServer.pause();
    const getting = errorOf(client.get(ConfigMaps, objectKey(namespace, 'heard'), controller.signal));
    const reason = new Error('enough');
    controller.abort(reason);
    expect([await watching, await getting]).toEqual([reason, reason]);
    cluster().apiServer.resume();
  });
});

describe('history', () => {
  test('compacted history is refused as expired, to watches and to continued lists', async ({ signal }) => {
    for (const name of ['page-1', 'page-2', 'page-3']) {
      await eventually(async () => {
        const error = await errorOf(client.create(ConfigMaps, { metadata: { namespace, name } }, signal));
        return error === undefined || isAlreadyExists(error);
      }, signal);
    }
    const page = await client.list(ConfigMaps, { namespace, limit: 1 }, signal);
    await client.create(ConfigMaps, { metadata: { namespace, name: 'later' } }, signal);
    await cluster().compact();
    await cluster().apiServer.restart();
    const { metadata } = page;
    const next = await errorOf(client.list(ConfigMaps, { namespace, limit: 1, continue: metadata.continue }, signal));
    expect(isExpired(next)).toBe(true);
    const watching = drain(client.watch(ConfigMaps, { namespace, resourceVersion: metadata.resourceVersion }, signal));
    expect(isExpired(await errorOf(watching))).toBe(true);
  });

  test('a resource version from the future has its own error', async ({ signal }) => {
    const { metadata } = await client.list(ConfigMaps, { namespace, limit: 1 }, signal);
    const resourceVersion = `9${metadata.resourceVersion}`;
    const error = await errorOf(
      client.list(ConfigMaps, { namespace, resourceVersion, resourceVersionMatch: 'NotOlderThan' }, signal),
    );
    expect(isTooLargeResourceVersion(error)).toBe(true);
  });
});
