import { describe, expect, test } from 'vitest';
import { ConfigMaps, keyOf, objectKey } from '../pkg/api/index.ts';
import type { Cached, ConfigMap } from '../pkg/api/index.ts';
import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { silentLogger } from '../test/support/loggers.ts';
import { Mirror } from '../test/support/mirror.ts';
import { ModelServer } from '../test/support/model-server.ts';
import { seededRandom } from '../test/support/random.ts';
import { connectionError } from '../test/support/scripted-client.ts';
import { createInformer } from './factory.ts';
import { defineIndex } from './informer.ts';
import type { Informer } from './informer.ts';

const byValue = defineIndex<ConfigMap>('data.value', ({ data }) => Object.values(data ?? {}));

/** What a watch can go on after: delays, and connections that break off at any event. */
async function breakConnections(server: ModelServer, random: () => number, clock: FakeClock): Promise<void> {
  const oneIn = (n: number): boolean => random() * n < 1;
  if (oneIn(2)) server.deliver();
  if (oneIn(400)) server.disconnect(oneIn(2) ? connectionError() : undefined);
  if (oneIn(1500)) server.isDown = !server.isDown;
  if (oneIn(4)) await settle();
  if (oneIn(100)) await clock.advance(random() * 40_000);
}

/** What leads to another list. */
function loseHistory(server: ModelServer, random: () => number): void {
  const oneIn = (n: number): boolean => random() * n < 1;
  if (oneIn(1000)) server.compact();
  if (oneIn(800)) server.canStream = !server.canStream;
}

/** Returns the events that a handler should get. */
function change(server: ModelServer, random: () => number): string[] {
  const namespace = `ns-${Math.floor(random() * 3)}`;
  const name = `name-${Math.floor(random() * 40)}`;
  const key = objectKey(namespace, name);
  const known = server.objects.has(key);
  if (random() < 0.3) {
    server.remove(key);
    return known ? [`deleted ${key} ${server.resourceVersion} false`] : [];
  }
  server.write(namespace, name, String(Math.floor(random() * 10)));
  return [`${known ? 'updated' : 'added'} ${key} ${server.resourceVersion}`];
}

async function catchUp(server: ModelServer, informer: Informer<ConfigMap>, clock: FakeClock): Promise<void> {
  server.isDown = false;
  while (!informer.store.hasSeen(server.resourceVersion)) {
    server.deliverAll();
    await settle();
    await clock.advance(1000);
  }
  for (let turn = 0; turn < 5; turn++) await settle(); // handlers get what the store has got
}

const sorted = (objects: Iterable<Cached<ConfigMap>>): Cached<ConfigMap>[] =>
  [...objects].sort((a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1));

function expectSameState(server: ModelServer, informer: Informer<ConfigMap>): void {
  const expected = sorted(server.objects.values());
  expect(sorted(informer.store.list())).toEqual(expected);
  for (let value = 0; value < 10; value++) {
    const found = sorted(informer.store.byIndex(byValue, String(value)));
    expect(found).toEqual(expected.filter(({ data }) => data?.['value'] === String(value)));
  }
}

describe('an informer of a server in trouble', () => {
  for (const seed of [1, 2, 3, 4]) {
    test(`delivers each of 30,000 changes, once and in order, while history lasts (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const server = new ModelServer(random);
      const clock = new FakeClock();
      const informer = createInformer(ConfigMaps, { client: server, clock, logger: silentLogger, random });
      const told: string[] = [];
      informer.addHandler({
        added: (object) => told.push(`added ${keyOf(object)} ${object.metadata.resourceVersion}`),
        updated: (_, object) => told.push(`updated ${keyOf(object)} ${object.metadata.resourceVersion}`),
        deleted: (last, missed) => told.push(`deleted ${keyOf(last)} ${last.metadata.resourceVersion} ${missed}`),
      });
      const stop = new AbortController();
      const running = informer.run(stop.signal);
      await catchUp(server, informer, clock);

      const made: string[] = [];
      for (let changes = 0; changes < 30_000; changes++) {
        made.push(...change(server, random));
        await breakConnections(server, random, clock);
      }
      await catchUp(server, informer, clock);
      stop.abort();
      await running;
      expect(told).toEqual(made);
      expect(server.requests).toBeGreaterThan(50);
    });

    test(`ends up with the server's state after lists among 30,000 changes (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const server = new ModelServer(random);
      const clock = new FakeClock();
      const informer = createInformer(ConfigMaps, { client: server, clock, logger: silentLogger, random });
      informer.addIndex(byValue);
      const first = new Mirror<ConfigMap>();
      informer.addHandler(first.handler);
      let late = { mirror: new Mirror<ConfigMap>(), registration: informer.addHandler({}) };
      const stop = new AbortController();
      const running = informer.run(stop.signal);

      for (let changes = 1; changes <= 30_000; changes++) {
        change(server, random);
        await breakConnections(server, random, clock);
        loseHistory(server, random);
        if (random() < 0.001) {
          late.registration.remove();
          const mirror = new Mirror<ConfigMap>();
          late = { mirror, registration: informer.addHandler(mirror.handler) };
        }
        if (random() * 200 > 1) continue;
        await catchUp(server, informer, clock);
        expectSameState(server, informer);
        first.expectHolds(server.objects);
        if (late.mirror.events > 0) late.mirror.expectHolds(server.objects);
      }

      stop.abort();
      await running;
      expect(clock.pendingTimers).toBe(0);
      expect(first.missedDeletes).toBeGreaterThan(0); // the run has been through lists that found objects gone
    });
  }
});
