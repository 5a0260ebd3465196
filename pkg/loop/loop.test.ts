import { describe, expect, test } from 'vitest';

import { deployment, pod } from '../../test/support/builders.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { finishedRequest, leadInTest } from '../../test/support/loop-harness.ts';
import { Deployments, objectKey, Pods } from '../api/index.ts';
import { currentTrace, decided, TerminalError } from '../controller/index.ts';
import { Loop } from './loop.ts';
import type { ObjectPage } from './protocol.ts';

const key = objectKey('default', 'web');
const path = { kind: Deployments, key, namespace: 'default', name: 'web' };
const tenMinutesMs = 600_000;

function setUp() {
  const clock = new FakeClock();
  const loop = new Loop(clock);
  const harness = leadInTest(loop, clock);
  harness.caches.set(Deployments, deployment({ name: 'web' }));
  const page = (): ObjectPage => {
    const shown = loop.objectPage(path, []);
    if (shown === undefined) throw new Error('there is no page');
    return shown;
  };
  const last = () => {
    const [record] = page().history;
    if (record === undefined) throw new Error('there is no record');
    return record;
  };
  return { clock, loop, page, last, ...harness };
}

/** Reads, decides and requests, with awaits between them. */
function setUpFull() {
  const parts = setUp();
  const { loop, storeOf } = parts;
  const store = storeOf(Deployments);
  const traced: boolean[] = [];
  const { queue } = parts.work(async (wanted) => {
    traced.push(currentTrace() !== undefined);
    await settle();
    store.get(wanted);
    await settle();
    decided({ actions: [{ kind: 'updateStatus', key: wanted }] });
    loop.requestFinished(finishedRequest(`update deployments.apps ${wanted}`, '409'));
    await settle();
    loop.requestRefused({ attempted: `update deployments.apps ${wanted}`, message: `${wanted} has changed` });
    return {};
  });
  const sync = async (...keys: readonly string[]): Promise<void> => {
    for (const each of keys) queue.add(objectKey('default', each));
    for (let turn = 0; turn < 10; turn++) await settle();
  };
  return { ...parts, queue, traced, sync };
}

describe('while nobody looks', () => {
  test('outcomes are recorded, but neither reads nor plans nor requests', async () => {
    const { sync, traced, last } = setUpFull();
    await sync('web');
    expect(traced).toEqual([false]);
    expect(last()).toMatchObject({ id: 1, outcome: 'success', key, reads: [], plan: [], requests: [] });
  });

  test('counters are kept', async () => {
    const { sync, loop } = setUpFull();
    await sync('web', 'api');
    expect(loop.state().lanes).toMatchObject([{ controller: 'deployment-controller', added: 2, done: 2 }]);
  });
});

describe('after somebody has looked', () => {
  test('the reads, plans and requests of a reconcile are recorded', async () => {
    const { loop, sync, last } = setUpFull();
    loop.look();
    await sync('web');
    expect(last()).toMatchObject({
      controller: 'deployment-controller',
      outcome: 'success',
      reads: ['Deployment default/web at version 1'],
      plan: ['update status default/web'],
      requests: [{ attempted: 'update deployments.apps default/web', code: '409', message: 'default/web has changed' }],
    });
  });

  test('reconciles that run at once do not mix', async () => {
    const { loop, caches, sync, last } = setUpFull();
    caches.set(Deployments, deployment({ name: 'api' }));
    loop.look();
    await sync('web', 'api');
    const api = loop.objectPage({ ...path, key: objectKey('default', 'api'), name: 'api' }, [])?.history[0];
    for (const [record, name] of [
      [last(), 'default/web'],
      [api, 'default/api'],
    ] as const) {
      expect(record).toMatchObject({
        reads: [`Deployment ${name} at version 1`],
        plan: [`update status ${name}`],
        requests: [{ attempted: `update deployments.apps ${name}`, message: `${name} has changed` }],
      });
    }
  });

  test('lists, reads by index and absent objects are recorded', async () => {
    const { loop, caches, storeOf, work, last } = setUp();
    caches.set(Pods, pod({ name: 'a' }), pod({ name: 'b', namespace: 'shop' }));
    const store = storeOf(Pods);
    const byNode = { name: 'node', valuesOf: () => ['node-1'] };
    const { queue } = work(async () => {
      store.list();
      store.list('shop');
      store.byIndex(byNode, 'node-1');
      store.get(objectKey('default', 'gone'));
      return {};
    });
    loop.look();
    queue.add(key);
    await settle();
    expect(last().reads.slice(0, 4)).toEqual([
      '2 × Pod by namespace (all)',
      '1 × Pod by namespace shop',
      '2 × Pod by node node-1',
      'Pod default/gone: not in the cache',
    ]);
  });

  test('requests outside of reconciles are not recorded', () => {
    const { loop, page } = setUp();
    loop.look();
    loop.requestFinished(finishedRequest('list pods'));
    loop.requestRefused({ attempted: 'list pods', message: 'no' });
    expect(page().history).toEqual([]);
  });

  test('recording ends ten minutes after the last look', async () => {
    const { clock, loop, sync, traced } = setUpFull();
    loop.look();
    await clock.advance(tenMinutesMs / 2);
    loop.look();
    await clock.advance(tenMinutesMs - 1);
    await sync('web');
    await clock.advance(1);
    await sync('web');
    expect(traced).toEqual([true, false]);
  });

  test('the page says since when, also after a pause', async () => {
    const { clock, loop, sync, page } = setUpFull();
    const startMs = clock.now();
    loop.look();
    await clock.advance(1000);
    loop.look();
    expect(page().recordedSinceMs).toBe(startMs);
    await clock.advance(tenMinutesMs);
    await sync('web');
    loop.look();
    expect(page().recordedSinceMs).toBe(startMs + 1000 + tenMinutesMs);
  });
});

describe('the end of a reconcile', () => {
  const rows = [
    { name: 'an error', fail: () => new Error('no route'), expected: { outcome: 'error', error: 'no route' } },
    { name: 'a terminal error', fail: () => new TerminalError('never'), expected: { outcome: 'terminal_error' } },
  ];
  for (const { name, fail, expected } of rows) {
    test(`${name} is recorded`, async () => {
      const { work, last } = setUp();
      work(async () => Promise.reject(fail())).queue.add(key);
      await settle();
      expect(last()).toMatchObject(expected);
    });
  }

  test('its duration, its start and its next time are recorded', async () => {
    const { clock, work, last, page } = setUp();
    const startMs = clock.now();
    work(async (_key, signal) => {
      await clock.sleep(250, signal);
      return { requeueAfterMs: 30_000 };
    }).queue.add(key);
    await clock.advance(250);
    expect(last()).toMatchObject({
      outcome: 'requeue_after',
      startedMs: startMs,
      durationMs: 250,
      requeueAfterMs: 30_000,
    });
    await clock.advance(10_000);
    expect(page().waits).toEqual([{ controller: 'deployment-controller', state: 'delayed', ms: 20_000, retries: 0 }]);
  });
});

describe('syncOnce', () => {
  async function setUpCounted() {
    const parts = setUp();
    const syncs: string[] = [];
    parts.work(async (wanted) => {
      syncs.push(wanted);
      return {};
    });
    await settle(); // the workers have started
    return { ...parts, syncs };
  }

  test('has an object synced, until a record tells what was read', async () => {
    const { clock, loop, syncs } = await setUpCounted();
    loop.look();
    loop.syncOnce(path);
    await settle();
    expect(syncs).toEqual([key]);
    await clock.advance(20_000);
    loop.syncOnce(path);
    await settle();
    expect(syncs).toEqual([key]);
  });

  test('at most every ten seconds', async () => {
    const { clock, loop, syncs } = await setUpCounted(); // nobody looks: no record tells what was read
    for (let second = 0; second <= 20; second++) {
      loop.syncOnce(path);
      await clock.advance(1000);
    }
    expect(syncs).toHaveLength(3);
  });

  test('not for an object that does not exist, or of another kind', async () => {
    const { loop, caches, syncs } = await setUpCounted();
    caches.set(Pods, pod({ name: 'web' }));
    loop.syncOnce({ ...path, key: objectKey('default', 'none'), name: 'none' });
    loop.syncOnce({ ...path, kind: Pods });
    await settle();
    expect(syncs).toEqual([]);
  });
});
