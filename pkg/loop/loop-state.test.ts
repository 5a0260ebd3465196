import { describe, expect, test } from 'vitest';

import { deployment, pod } from '../../test/support/builders.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { leadInTest } from '../../test/support/loop-harness.ts';
import { CoreEvents, Deployments, metadataOf, objectKey, Pods } from '../api/index.ts';
import { Loop } from './loop.ts';

const key = objectKey('default', 'web');
const path = { kind: Deployments, key, namespace: 'default', name: 'web' };

function setUp() {
  const clock = new FakeClock();
  const loop = new Loop(clock);
  const harness = leadInTest(loop, clock);
  harness.caches.set(Deployments, deployment({ name: 'web' }));
  return { clock, loop, ...harness };
}

describe('the state', () => {
  test('has the lane of a crashed controller replaced by that of its successor', async () => {
    const { loop, work } = setUp();
    const first = work(async () => ({}));
    await settle();
    first.queue.add(key);
    await settle();
    await first.stop();
    work(async () => ({}), { name: 'other-controller' });
    work(async () => ({}));
    await settle();
    expect(loop.state().lanes.map(({ controller, done }) => [controller, done])).toEqual([
      ['deployment-controller', 0],
      ['other-controller', 0],
    ]);
  });

  test('has the caches, and since when they are unchanged', async () => {
    const { clock, loop, caches } = setUp();
    await clock.advance(1000);
    caches.set(metadataOf(Pods), { metadata: pod().metadata });
    await clock.advance(500);
    expect(loop.state().caches).toEqual([
      { name: 'deployments.apps', size: 1, synced: true, changedAgoMs: 1500 },
      { name: 'pods (metadata)', size: 1, synced: true, changedAgoMs: 500 },
    ]);
  });

  test('has the lease, if there is an election', () => {
    const { loop } = setUp();
    expect(loop.state().lease).toBeUndefined();
    const inspected = { holder: 'us', isOurs: true, renewedAgoMs: 700, durationMs: 15_000 };
    loop.elects({ inspect: () => ({ lock: { namespace: 'kube-system', name: 'kcm' }, ...inspected }) });
    expect(loop.state().lease).toEqual({ name: 'kube-system/kcm', ...inspected });
  });

  test('has neither lanes nor caches after the end of the term, and pages neither', async () => {
    const { loop, work, leave } = setUp();
    work(async () => ({}));
    await settle();
    leave();
    expect(loop.state()).toMatchObject({ lanes: [], caches: [] });
    expect(loop.caches).toBeUndefined();
    expect(loop.objectPage(path, [])).toBeUndefined();
  });

  test('has the caches of both terms during a migration', () => {
    const { clock, loop, caches, leave } = setUp();
    const second = leadInTest(loop, clock);
    second.caches.set(Pods, pod());
    expect(loop.caches?.find(Pods)).toBe(second.caches.find(Pods));
    expect(loop.caches?.find(Deployments)).toBe(caches.find(Deployments));
    leave();
    expect(loop.caches?.find(Deployments)).toBeUndefined();
    expect(loop.state().caches.map(({ name }) => name)).toEqual(['pods']);
  });
});

test('events are those of the object, the newest first', async ({ signal }) => {
  const { loop, client } = setUp();
  const event = (name: string, lastTimestamp: string | null, more: object = {}): void => {
    const about = { involvedObject: { kind: 'Deployment', name: 'web' }, metadata: { namespace: 'default', name } };
    client.seed(CoreEvents, { ...about, type: 'Normal', reason: name, lastTimestamp, ...more });
  };
  event('Old', '2026-01-01T00:00:00Z', { count: 3 });
  event('New', '2026-01-01T00:05:00Z', { message: 'scaled', source: { component: 'deployment-controller' } });
  event('Series', null, { series: { count: 7, lastObservedTime: '2026-01-01T00:03:00Z' }, count: null, message: null });
  const lines = await loop.eventsOf(path, signal);
  expect(lines.map(({ reason, count }) => [reason, count])).toEqual([
    ['New', 1],
    ['Series', 7],
    ['Old', 3],
  ]);
  expect(client.actions.at(-1)?.body).toMatchObject({
    namespace: 'default',
    fieldSelector: 'involvedObject.kind=Deployment,involvedObject.name=web',
  });
});
