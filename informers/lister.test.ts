import { describe, expect, test } from 'vitest';
import { keyOf, selectorFromSet } from '../pkg/api/index.ts';
import type { ConfigMap } from '../pkg/api/index.ts';
import { Indexer } from './indexer.ts';
import { defineIndex } from './informer.ts';
import { createLister } from './lister.ts';

const byApp = defineIndex<ConfigMap>('app', ({ metadata }) => Object.values(metadata.labels ?? {}));

function setUp() {
  const indexer = new Indexer<ConfigMap>(() => {});
  indexer.addIndex(byApp);
  for (const [namespace, name, app] of [
    ['a', 'x', 'web'],
    ['a', 'y', 'db'],
    ['b', 'x', 'web'],
  ] as const) {
    const metadata = { namespace, name, uid: name, resourceVersion: '1', creationTimestamp: '', labels: { app } };
    indexer.set(keyOf({ metadata }), { metadata });
  }
  return createLister(indexer);
}

describe('a lister', () => {
  test('reads by name, label and index in one namespace', () => {
    const lister = setUp().inNamespace('a');
    expect(lister.get('y')?.metadata.labels).toEqual({ app: 'db' });
    expect(lister.get('z')).toBeUndefined();
    expect(lister.list().map(keyOf)).toEqual(['a/x', 'a/y']);
    expect(lister.list(selectorFromSet({ app: 'web' })).map(keyOf)).toEqual(['a/x']);
    expect(lister.byIndex(byApp, 'web').map(keyOf)).toEqual(['a/x']);
  });

  test('reads by label and index in all namespaces', () => {
    const lister = setUp();
    expect(lister.list(selectorFromSet({ app: 'web' })).map(keyOf)).toEqual(['a/x', 'b/x']);
    expect(lister.byIndex(byApp, 'web').map(keyOf)).toEqual(['a/x', 'b/x']);
  });
});
