import { describe, expect, test } from 'vitest';

import { isEqualJson } from './equal.ts';
import { ExactInteger } from './exact-integer.ts';

interface Row {
  readonly name: string;
  readonly a: unknown;
  readonly b: unknown;
  readonly equal: boolean;
  readonly equalIfEmptyIsAbsent: boolean;
}

const same = { equal: true, equalIfEmptyIsAbsent: true };
const different = { equal: false, equalIfEmptyIsAbsent: false };
const onlyIfEmptyIsAbsent = { equal: false, equalIfEmptyIsAbsent: true };

const rows: readonly Row[] = [
  { name: 'two equal numbers', a: 1, b: 1, ...same },
  { name: 'a number and its text', a: 1, b: '1', ...different },
  { name: 'false and absent', a: false, b: undefined, ...different },
  { name: 'zero and absent', a: { a: 0 }, b: {}, ...different },
  { name: 'an empty text and absent', a: { a: '' }, b: {}, ...different },
  { name: 'null and absent', a: { a: null }, b: {}, ...onlyIfEmptyIsAbsent },
  { name: 'an empty array and absent', a: { a: [] }, b: {}, ...onlyIfEmptyIsAbsent },
  { name: 'an empty array and an empty object', a: [], b: {}, ...onlyIfEmptyIsAbsent },
  { name: 'null and an empty object', a: null, b: {}, ...onlyIfEmptyIsAbsent },
  { name: 'an object of empty fields and absent', a: { a: { b: {}, c: null } }, b: {}, ...onlyIfEmptyIsAbsent },
  { name: 'undefined and absent', a: { a: undefined }, b: {}, ...same },
  { name: 'fields in another order', a: { a: 1, b: 2 }, b: { b: 2, a: 1 }, ...same },
  { name: 'one field more', a: { a: 1 }, b: { a: 1, b: 2 }, ...different },
  { name: 'equal arrays', a: [1, { a: [2] }], b: [1, { a: [2] }], ...same },
  { name: 'arrays in another order', a: [1, 2], b: [2, 1], ...different },
  { name: 'an array and its beginning', a: [1, 2], b: [1], ...different },
  { name: 'an array and an object with the same keys', a: ['x'], b: { 0: 'x' }, ...different },
  { name: 'a difference deep inside', a: { a: [{ b: { c: 1 } }] }, b: { a: [{ b: { c: 2 } }] }, ...different },
  {
    name: 'equal integers beyond 2^53',
    a: { a: ExactInteger.of('9007199254740993') },
    b: { a: ExactInteger.of('9007199254740993') },
    ...same,
  },
  {
    name: 'integers beyond 2^53 with the same nearest number',
    a: ExactInteger.of('9007199254740992'),
    b: ExactInteger.of('9007199254740993'),
    ...different,
  },
  { name: 'an integer beyond 2^53 and absent', a: { a: ExactInteger.of('9007199254740993') }, b: {}, ...different },
];

describe('isEqualJson', () => {
  for (const { name, a, b, equal, equalIfEmptyIsAbsent } of rows) {
    test(`${name}: ${equal}, with emptyIsAbsent ${equalIfEmptyIsAbsent}`, () => {
      expect([isEqualJson(a, b), isEqualJson(b, a)]).toEqual([equal, equal]);
      const options = { emptyIsAbsent: true };
      expect([isEqualJson(a, b, options), isEqualJson(b, a, options)]).toEqual([
        equalIfEmptyIsAbsent,
        equalIfEmptyIsAbsent,
      ]);
    });
  }
});
