import { describe, expect, test } from 'vitest';
import { keyOf } from '../pkg/api/index.ts';
import type { ConfigMap, ObjectKey } from '../pkg/api/index.ts';
import { defineIndex } from './informer.ts';
import { Indexer } from './indexer.ts';
import { KeyIndex } from './key-index.ts';

const bySize = defineIndex<ConfigMap>('size', ({ data }) => (data?.['size'] === undefined ? [] : [data['size']]));

function configMap(namespace: string, name: string, size?: string): ConfigMap {
  return {
    metadata: { namespace, name, uid: name, resourceVersion: '1', creationTimestamp: '' },
    data: size === undefined ? {} : { size },
  };
}

function createIndexer(...objects: ConfigMap[]): Indexer<ConfigMap> {
  const indexer = new Indexer<ConfigMap>((_index, error) => {
    throw error;
  });
  for (const object of objects) indexer.set(keyOf(object), object);
  return indexer;
}

const namesIn = (objects: readonly { readonly metadata: { readonly name: string } }[]): string[] =>
  objects.map(({ metadata }) => metadata.name).sort();

describe('Indexer', () => {
  test('an index added late knows what was there before', () => {
    const indexer = createIndexer(configMap('a', 'x', 'small'), configMap('b', 'y', 'small'), configMap('b', 'z'));
    indexer.addIndex(bySize);
    expect(namesIn(indexer.byIndex(bySize, 'small'))).toEqual(['x', 'y']);
    expect(indexer.byIndex(bySize, 'large')).toEqual([]);
  });

  test('an update moves an object from value to value, a delete takes it out', () => {
    const indexer = createIndexer(configMap('a', 'x', 'small'));
    indexer.addIndex(bySize);
    indexer.set(keyOf(configMap('a', 'x')), configMap('a', 'x', 'large'));
    expect(indexer.byIndex(bySize, 'small')).toEqual([]);
    expect(namesIn(indexer.byIndex(bySize, 'large'))).toEqual(['x']);
    indexer.delete(keyOf(configMap('a', 'x')));
    expect(indexer.byIndex(bySize, 'large')).toEqual([]);
    expect(indexer.size).toBe(0);
  });

  test('an index yields the newest state of an object whose value has not changed', () => {
    const indexer = createIndexer(configMap('a', 'x', 'small'));
    indexer.addIndex(bySize);
    const newer = configMap('a', 'x', 'small');
    indexer.set(keyOf(newer), newer);
    expect(indexer.byIndex(bySize, 'small')[0]).toBe(newer);
  });

  test('lists one namespace or all', () => {
    const indexer = createIndexer(configMap('a', 'x'), configMap('b', 'y'));
    expect(namesIn(indexer.list())).toEqual(['x', 'y']);
    expect(namesIn(indexer.list('b'))).toEqual(['y']);
    indexer.set(keyOf(configMap('b', 'z')), configMap('b', 'z'));
    expect(namesIn(indexer.list('b'))).toEqual(['y', 'z']);
  });

  test('asking for an index that was never added is an error', () => {
    expect(() => createIndexer().byIndex(bySize, 'small')).toThrow('no index size');
  });

  test('an index function that throws hides the object from that index alone', () => {
    const errors: string[] = [];
    const indexer = new Indexer<ConfigMap>((index) => errors.push(index));
    indexer.addIndex(bySize);
    indexer.addIndex(
      defineIndex('broken', () => {
        throw new Error('boom');
      }),
    );
    indexer.set(keyOf(configMap('a', 'x')), configMap('a', 'x', 'small'));
    expect(namesIn(indexer.byIndex(bySize, 'small'))).toEqual(['x']);
    expect(errors).toEqual(['broken']);
  });

  test('has observed the version that it was advanced to, and all before', () => {
    const indexer = createIndexer();
    expect(indexer.hasSeen('1')).toBe(false);
    indexer.advanceTo('10');
    expect(indexer.hasSeen('9')).toBe(true);
    expect(indexer.hasSeen('10')).toBe(true);
    expect(indexer.hasSeen('11')).toBe(false);
  });

  test('a wait ends when the version is reached, or with its signal', async () => {
    const indexer = createIndexer();
    const stop = new AbortController();
    const reached = indexer.waitUntilSeen('5', AbortSignal.any([]));
    const aborted = indexer.waitUntilSeen('50', stop.signal);
    indexer.advanceTo('6');
    await reached;
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
  });
});

describe('KeyIndex', () => {
  const keyNumber = (n: number): ObjectKey => keyOf({ metadata: { name: `k${n}` } });
  const keysOf = (index: KeyIndex, value: string): ObjectKey[] => {
    const keys: ObjectKey[] = [];
    index.forEach(value, (key) => keys.push(key));
    return keys;
  };

  for (const count of [1, 2, 16, 17, 100]) {
    test(`holds ${count} keys under one value, and nothing when they are gone`, () => {
      const index = new KeyIndex();
      const keys = Array.from({ length: count }, (_, n) => keyNumber(n));
      for (const key of keys) {
        index.move(key, [], ['v', 'v']);
        index.move(key, ['other'], ['v']);
      }
      expect(keysOf(index, 'v').sort()).toEqual(keys.sort());
      expect([index.count('v'), index.count('other')]).toEqual([count, 0]);
      for (const key of keys) {
        index.move(key, ['v'], []);
        index.move(key, ['v'], []);
      }
      expect(index.size).toBe(0);
    });
  }
});
