import { describe, expect, test } from 'vitest';

import { keyOf, objectKey, splitKey } from './object-key.ts';

describe('the key of an object', () => {
  const rows = [
    { namespace: 'default', name: 'web', key: 'default/web', split: { namespace: 'default', name: 'web' } },
    { namespace: undefined, name: 'node-1', key: 'node-1', split: { namespace: undefined, name: 'node-1' } },
    { namespace: '', name: 'node-1', key: 'node-1', split: { namespace: undefined, name: 'node-1' } },
    { namespace: 'a', name: 'constructor', key: 'a/constructor', split: { namespace: 'a', name: 'constructor' } },
    { namespace: 'a', name: 'system:b', key: 'a/system:b', split: { namespace: 'a', name: 'system:b' } },
  ];
  for (const { namespace, name, key, split } of rows) {
    test(`${name} in the namespace ${JSON.stringify(namespace)} has the key ${key}`, () => {
      expect(objectKey(namespace, name)).toBe(key);
      expect(keyOf({ metadata: { namespace, name } })).toBe(key);
      expect(splitKey(objectKey(namespace, name))).toEqual(split);
    });
  }

  test('is empty for an object without a name', () => {
    expect(keyOf({ metadata: {} })).toBe('');
  });
});
