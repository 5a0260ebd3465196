import { describe, expect, expectTypeOf, test } from 'vitest';

import { copyOf, type Cached } from './cached.ts';
import { ExactInteger } from './exact-integer.ts';
import type { Pod } from './objects.ts';

describe('copyOf', () => {
  const rows: readonly { readonly name: string; readonly value: unknown }[] = [
    { name: 'a text', value: 'a' },
    { name: 'null', value: null },
    { name: 'undefined', value: undefined },
    { name: 'an empty object', value: {} },
    { name: 'an empty array', value: [] },
    { name: 'nested objects and arrays', value: { a: [{ b: [1, null, { c: false }] }], d: { e: '' } } },
    { name: 'a field that is undefined', value: { a: undefined } },
  ];
  for (const { name, value } of rows) {
    test(`copies ${name}`, () => expect(copyOf(value)).toStrictEqual(value));
  }

  test('shares no object and no array with the original', () => {
    const original = { metadata: { labels: { app: 'web' }, finalizers: ['a'] } };
    const copy = copyOf(original);
    copy.metadata.labels.app = 'db';
    copy.metadata.finalizers.push('b');
    expect(original).toEqual({ metadata: { labels: { app: 'web' }, finalizers: ['a'] } });
  });

  test('the copy of a frozen object can be changed', () => {
    const copy = copyOf(Object.freeze({ list: Object.freeze([1]) })) as { list: number[] };
    copy.list.push(2);
    expect(copy).toEqual({ list: [1, 2] });
  });

  test('keeps an ExactInteger the same object', () => {
    const replicas = ExactInteger.of('9007199254740993');
    expect(copyOf({ replicas }).replicas).toBe(replicas);
  });

  test('returns a mutable type for a cached object', () => {
    expectTypeOf(copyOf<Pod>).returns.toEqualTypeOf<Pod>();
    expectTypeOf<Cached<{ list: { a: string }[] }>>().toEqualTypeOf<{
      readonly list: readonly { readonly a: string }[];
    }>();
  });
});
