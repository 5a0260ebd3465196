import { describe, expect, test } from 'vitest';

import { build, deployment, node, pod, runningStatus } from '../../test/support/builders.ts';
import { FakeCaches } from '../../test/support/fake-caches.ts';
import { Deployments, metadataOf, Namespaces, Nodes, Pods, Secrets } from '../api/index.ts';
import { PictureView } from './picture-view.ts';
import type { Changes, Filter, Picture } from './protocol.ts';

function setUp(filter: Filter = {}) {
  const caches = new FakeCaches();
  const view = new PictureView(filter);
  const first = (): Picture => {
    const update = view.update(caches);
    if (update === undefined || !('picture' in update)) throw new Error(`no picture: ${JSON.stringify(update)}`);
    return update.picture;
  };
  const next = (): Changes | undefined => {
    const update = view.update(caches);
    if (update !== undefined && 'picture' in update) throw new Error('the picture was sent again');
    return update?.changes;
  };
  return { caches, first, next };
}

const names = (items: readonly { readonly name: string }[] = []): readonly string[] => items.map(({ name }) => name);
const namespace = (name: string) => build(Namespaces, { name }, {});
const pods = (count: number, prefix = 'web') =>
  Array.from({ length: count }, (_, index) => pod({ name: `${prefix}-${index}` }));

describe('the first update', () => {
  test('is the picture, with kinds and namespaces', () => {
    const { caches, first } = setUp();
    caches.set(Pods, pod({ name: 'web-1' }));
    caches.set(Deployments, deployment({ name: 'web' }));
    caches.set(Namespaces, namespace('shop'), namespace('default'));
    const picture = first();
    expect(names(picture.items)).toEqual(['web', 'web-1']);
    expect(picture.total).toBe(2);
    expect(picture.namespaces).toEqual(['default', 'shop']);
    expect(picture.kinds).toContain('StatefulSet');
  });

  test('is an empty picture without caches', () => {
    expect(setUp().first()).toMatchObject({ items: [], total: 0, namespaces: [] });
  });

  test('has what the filter shows, and all namespaces', () => {
    const { caches, first } = setUp({ namespace: 'shop' });
    caches.set(Namespaces, namespace('shop'), namespace('default'));
    caches.set(Nodes, node({ name: 'node-1' }));
    caches.set(Pods, pod({ name: 'a' }), pod({ name: 'b', namespace: 'shop' }));
    expect(first()).toMatchObject({ total: 2, namespaces: ['default', 'shop'] });
  });

  test('has nothing of caches of other kinds, or of metadata alone', () => {
    const { caches, first } = setUp();
    caches.set(metadataOf(Pods), { metadata: pod().metadata });
    caches.set(Secrets, build(Secrets, { name: 'a' }, {}));
    expect(first().items).toEqual([]);
  });
});

describe('a later update', () => {
  test('is undefined if nothing has changed, and reads no cache again', () => {
    const { caches, first, next } = setUp();
    caches.set(Pods, ...pods(100));
    first();
    const reads = caches.readsOf(Pods);
    expect(next()).toBeUndefined();
    expect(caches.readsOf(Pods)).toBe(reads);
  });

  test('has the items that have changed, and no others', () => {
    const { caches, first, next } = setUp();
    caches.set(Pods, ...pods(3));
    first();
    caches.set(Pods, pod({ name: 'web-1', status: runningStatus(), metadata: { resourceVersion: '2' } }));
    const changes = next();
    expect(changes?.changed).toEqual([expect.objectContaining({ name: 'web-1', text: 'ready' })]);
    expect(changes?.removed).toEqual([]);
    expect(next()).toBeUndefined();
  });

  test('is undefined if an object has changed, but not its item', () => {
    const { caches, first, next } = setUp();
    caches.set(Nodes, node({ name: 'node-1' }));
    first();
    caches.set(Nodes, node({ name: 'node-1', annotations: { heartbeat: '2' }, metadata: { resourceVersion: '2' } }));
    expect(next()).toBeUndefined();
  });

  test('has new and removed items, and the new total', () => {
    const { caches, first, next } = setUp();
    caches.set(Pods, ...pods(2));
    first();
    caches.set(Pods, pod({ name: 'web-9' }));
    caches.delete(Pods, pod({ name: 'web-0' }));
    expect(next()).toMatchObject({ changed: [{ name: 'web-9' }], removed: ['uid-pod-default-web-0'], total: 2 });
    expect(next()).toBeUndefined();
  });

  test('removes an object and adds its successor of the same name', () => {
    const { caches, first, next } = setUp();
    caches.set(Pods, pod({ name: 'web-0' }));
    first();
    caches.set(Pods, pod({ name: 'web-0', metadata: { uid: 'second' } }));
    expect(next()).toMatchObject({ changed: [{ id: 'second' }], removed: ['uid-pod-default-web-0'], total: 1 });
  });

  test('has no objects that the filter hides', () => {
    const { caches, first, next } = setUp({ kind: 'Deployment' });
    first();
    caches.set(Pods, pod({ name: 'web-0' }));
    expect(next()).toBeUndefined();
    caches.set(Deployments, deployment({ name: 'web' }));
    expect(names(next()?.changed)).toEqual(['web']);
  });

  test('has all that changed since, however long ago the last one was', () => {
    const { caches, first, next } = setUp();
    caches.set(Pods, pod({ name: 'web-0' }));
    first();
    caches.set(Pods, pod({ name: 'web-0', status: runningStatus() }));
    caches.set(Pods, pod({ name: 'short-lived' }));
    caches.delete(Pods, pod({ name: 'short-lived' }));
    caches.set(Pods, pod({ name: 'web-1' }));
    expect(names(next()?.changed)).toEqual(['web-0', 'web-1']);
  });

  test('has the namespaces if only they have changed', () => {
    const { caches, first, next } = setUp();
    first();
    caches.set(Namespaces, namespace('shop'));
    expect(next()).toEqual({ changed: [], removed: [], total: 0, namespaces: ['shop'] });
    expect(next()).toBeUndefined();
  });
});

describe('more than 3000 objects', () => {
  test('are cut, and counted', () => {
    const { caches, first } = setUp();
    caches.set(Nodes, node({ name: 'node-1' }));
    caches.set(Pods, ...pods(3500));
    const picture = first();
    expect(picture.items).toHaveLength(3000);
    expect(picture.items[0]?.name).toBe('node-1');
    expect(picture.total).toBe(3501);
  });

  test('are counted again when more are added that are not shown', () => {
    const { caches, first, next } = setUp();
    caches.set(Pods, ...pods(3000));
    first();
    caches.set(Pods, ...pods(10, 'api'));
    expect(next()).toMatchObject({ changed: [], removed: [], total: 3010 });
    expect(next()).toBeUndefined();
  });

  test('are shown as others are removed', () => {
    const { caches, first, next } = setUp();
    caches.set(Pods, ...pods(3001));
    first();
    caches.delete(Pods, pod({ name: 'web-0' }));
    expect(next()).toMatchObject({ changed: [{ name: 'web-3000' }], removed: ['uid-pod-default-web-0'], total: 3000 });
  });
});
