import { describe, expect, test } from 'vitest';

import { Pods, Services, type Pod, type Service } from '../api/index.ts';
import { pod, runningStatus, service } from '../../test/support/builders.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { createServicePods } from './service-pods.ts';

const signal = new AbortController().signal;

async function follow(services: readonly Service[], pods: readonly Pod[]) {
  const informers = { services: new FakeInformer(Services, services), pods: new FakeInformer(Pods, pods) };
  const told: string[] = [];
  const members = createServicePods({
    ...informers,
    onServiceChange: (key) => told.push(`service ${key}`),
    onPodChange: (key) => told.push(`pod of ${key}`),
  });
  await members.waitForSync(signal);
  const named = (object: Service): string[] => members.podsOf(object).map(({ metadata }) => metadata.name);
  return { ...informers, told, members, named, forgetTold: () => told.splice(0) };
}

const app = (name: string, value: string, version = '1', status = runningStatus()): Pod =>
  pod({ name, labels: { app: value }, status, metadata: { resourceVersion: version } });
const web = service({ name: 'web', spec: { selector: { app: 'web' } } });
const db = service({ name: 'db', spec: { selector: { app: 'db' } } });

describe('createServicePods', () => {
  test('finds the pods that were there before', async () => {
    const { named } = await follow([web, db], [app('a', 'web'), app('b', 'db'), app('c', 'web')]);
    expect([named(web), named(db)]).toEqual([['a', 'c'], ['b']]);
  });

  test('finds pods for a Service that comes later, or changes its selector', async () => {
    const { services, named } = await follow([], [app('a', 'web'), app('b', 'db')]);
    services.set(web);
    expect(named(web)).toEqual(['a']);
    const moved = service({ name: 'web', spec: { selector: { app: 'db' } }, metadata: { resourceVersion: '2' } });
    services.set(moved);
    expect(named(moved)).toEqual(['b']);
  });

  test('a pod that moves between Services enqueues both', async () => {
    const { pods, told, named, forgetTold } = await follow([web, db], [app('a', 'web')]);
    forgetTold();
    pods.set(app('a', 'db', '2'));
    expect(told).toEqual(['pod of default/db', 'pod of default/web']);
    expect([named(web), named(db)]).toEqual([[], ['a']]);
  });

  test('labels that no selector uses enqueue nothing', async () => {
    const { pods, told, forgetTold } = await follow([web], [app('a', 'web')]);
    forgetTold();
    pods.set(
      pod({ name: 'a', labels: { app: 'web', x: 'y' }, status: runningStatus(), metadata: { resourceVersion: '2' } }),
    );
    expect(told).toEqual([]);
  });

  const rows = [
    { name: 'readiness', status: runningStatus({ ready: false }), told: ['pod of default/web'] },
    {
      name: 'the end of its containers',
      status: { ...runningStatus(), phase: 'Failed' },
      told: ['pod of default/web'],
    },
    { name: 'another address', status: runningStatus({ podIPs: [{ ip: '10.0.0.9' }] }), told: ['pod of default/web'] },
    { name: 'a heartbeat of its status', status: { ...runningStatus(), message: 'fine' }, told: [] },
  ];
  for (const { name, status, told: wanted } of rows) {
    test(`${name} of a pod ${wanted.length === 0 ? 'enqueues nothing' : 'enqueues its Service'}`, async () => {
      const { pods, told, forgetTold } = await follow([web], [app('a', 'web')]);
      forgetTold();
      pods.set(app('a', 'web', '2', status));
      expect(told).toEqual(wanted);
    });
  }

  test('a Service without a selector has no pods', async () => {
    const bare = service({ name: 'bare', spec: { selector: undefined } });
    const { pods, told, forgetTold } = await follow([bare], [app('a', 'web')]);
    forgetTold();
    pods.delete(app('a', 'web'));
    expect(told).toEqual([]);
  });

  test('a change of a pod reads its own Services, and a sync its own pods, among thousands of others', async () => {
    const others = Array.from({ length: 200 }, (_, index) =>
      service({ name: `other-${index}`, spec: { selector: { app: `other-${index}` } } }),
    );
    const theirs = Array.from({ length: 2000 }, (_, index) => app(`other-${index}`, `other-${index % 200}`));
    const { services, pods, members } = await follow([web, ...others], [app('a', 'web'), ...theirs]);
    services.reads = pods.reads = 0;
    pods.set(app('a', 'web', '2', runningStatus({ ready: false })));
    expect({ services: services.reads, pods: pods.reads }).toEqual({ services: 1, pods: 0 });
    members.podsOf(web);
    expect(pods.reads).toBe(1);
  });
});
