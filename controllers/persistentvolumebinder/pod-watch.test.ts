import { expect, test } from 'vitest';

import { Pods, type Pod, type PodStatus } from '../../pkg/api/index.ts';
import { pod } from '../../test/support/builders.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { PodWatch } from './pod-watch.ts';

const at = (resourceVersion: string, status: PodStatus = {}, uid = 'one'): Pod =>
  pod({ name: 'recycler-for-disk', status, metadata: { resourceVersion, uid } });

function watched(objects: readonly Pod[] = []) {
  const cache = new FakeInformer(Pods, objects);
  const watch = new PodWatch(cache.store);
  cache.addHandler(watch.handler());
  const stop = new AbortController();
  return { cache, stop, outcome: watch.untilFinished(at('5'), stop.signal) };
}

test.each<[string, PodStatus, string | undefined]>([
  ['succeeds', { phase: 'Succeeded' }, undefined],
  ['fails', { phase: 'Failed', message: 'no server' }, 'no server'],
  ['fails without a message', { phase: 'Failed' }, 'pod failed, pod.Status.Message unknown'],
])('a pod %s', async (_how, status, expected) => {
  const { cache, outcome } = watched();
  cache.set(at('5'));
  cache.set(at('6', { phase: 'Running' }));
  cache.set(at('7', status));
  expect(await outcome).toBe(expected);
});

test('a pod may have finished before it is watched', async () => {
  const { outcome } = watched([at('6', { phase: 'Succeeded' })]);
  expect(await outcome).toBeUndefined();
});

test('a pod may be deleted', async () => {
  const { cache, outcome } = watched([at('5')]);
  cache.delete(at('5'));
  expect(await outcome).toBe('recycler pod was deleted');
});

test('an earlier pod of the name is not meant', async () => {
  const { cache, outcome } = watched([at('3', { phase: 'Succeeded' }, 'earlier')]);
  cache.delete(at('3'));
  cache.set(at('5'));
  cache.set(at('6', { phase: 'Failed', message: 'no' }));
  expect(await outcome).toBe('no');
});

test('a stop ends the wait', async () => {
  const { stop, outcome } = watched();
  stop.abort(new Error('stopping'));
  await expect(outcome).rejects.toThrow('stopping');
});
