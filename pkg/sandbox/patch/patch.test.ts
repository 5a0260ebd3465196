import { describe, expect, test } from 'vitest';

import { applyJsonPatch } from './json.ts';
import { applyMerge } from './merge.ts';

const object = () => ({ a: { b: 1, c: [1, 2] }, 'x/y': 1 });
const jsonRows: { name: string; patch: object[]; expected: unknown }[] = [
  {
    name: 'adds a field',
    patch: [{ op: 'add', path: '/a/d', value: 2 }],
    expected: { ...object(), a: { ...object().a, d: 2 } },
  },
  {
    name: 'adds to the end of a list',
    patch: [{ op: 'add', path: '/a/c/-', value: 3 }],
    expected: { ...object(), a: { b: 1, c: [1, 2, 3] } },
  },
  {
    name: 'inserts into a list',
    patch: [{ op: 'add', path: '/a/c/0', value: 0 }],
    expected: { ...object(), a: { b: 1, c: [0, 1, 2] } },
  },
  {
    name: 'removes a field whose name has a slash',
    patch: [{ op: 'remove', path: '/x~1y' }],
    expected: { a: object().a },
  },
  { name: 'replaces the whole', patch: [{ op: 'replace', path: '', value: { z: 1 } }], expected: { z: 1 } },
  {
    name: 'moves a field',
    patch: [{ op: 'move', from: '/a/b', path: '/b' }],
    expected: { a: { c: [1, 2] }, b: 1, 'x/y': 1 },
  },
  {
    name: 'copies a field',
    patch: [{ op: 'copy', from: '/a/b', path: '/b' }],
    expected: { ...object(), b: 1 },
  },
  { name: 'changes nothing when a test holds', patch: [{ op: 'test', path: '/a/b', value: 1 }], expected: object() },
];

describe('applyJsonPatch', () => {
  for (const { name, patch, expected } of jsonRows) {
    test(name, () => expect(applyJsonPatch(object(), patch)).toEqual(expected));
  }

  test('leaves the object as it was', () => {
    const before = object();
    applyJsonPatch(before, [{ op: 'replace', path: '/a/b', value: 2 }]);
    expect(before).toEqual(object());
  });

  const refusals: { name: string; patch: unknown; code: number }[] = [
    { name: 'a patch that is not a list', patch: {}, code: 400 },
    { name: 'an unknown operation', patch: [{ op: 'swap', path: '/a' }], code: 400 },
    { name: 'a path without a slash', patch: [{ op: 'remove', path: 'a' }], code: 400 },
    { name: 'a test that does not hold', patch: [{ op: 'test', path: '/a/b', value: 2 }], code: 422 },
    { name: 'the removal of a field that does not exist', patch: [{ op: 'remove', path: '/z' }], code: 422 },
    {
      name: 'more operations than the server allows',
      patch: Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a/b', value: 1 })),
      code: 413,
    },
  ];
  for (const { name, patch, code } of refusals) {
    test(`refuses ${name} with ${code}`, () =>
      expect(() => applyJsonPatch(object(), patch)).toThrow(expect.objectContaining({ code })));
  }
});

const mergeRows: { name: string; patch: Record<string, unknown>; expected: unknown }[] = [
  { name: 'changes the fields that it names', patch: { a: { b: 2 } }, expected: { a: { b: 2, c: [1, 2] }, 'x/y': 1 } },
  { name: 'deletes fields that are null', patch: { a: { b: null } }, expected: { a: { c: [1, 2] }, 'x/y': 1 } },
  { name: 'replaces lists', patch: { a: { c: [3] } }, expected: { a: { b: 1, c: [3] }, 'x/y': 1 } },
  {
    name: 'replaces a value with an object',
    patch: { 'x/y': { z: 1 } },
    expected: { a: object().a, 'x/y': { z: 1 } },
  },
  { name: 'drops nulls from a new object', patch: { n: { o: null, p: 1 } }, expected: { ...object(), n: { p: 1 } } },
  {
    name: 'treats a field called constructor like any other',
    patch: { constructor: 'x' },
    expected: { ...object(), constructor: 'x' },
  },
];

describe('applyMerge', () => {
  for (const { name, patch, expected } of mergeRows) {
    test(name, () => expect(applyMerge(object(), patch)).toEqual(expected));
  }

  test('leaves the object as it was', () => {
    const before = object();
    applyMerge(before, { a: { b: 2 } });
    expect(before).toEqual(object());
  });
});
