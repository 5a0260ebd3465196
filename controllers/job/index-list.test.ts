import { describe, expect, test } from 'vitest';

import {
  countIndexes,
  formatIndexList,
  hasIndex,
  indexListOf,
  intersectionOf,
  parseIndexList,
  selectMissing,
  unionOf,
} from './index-list.ts';

describe('parseIndexList', () => {
  const rows = [
    { name: 'parses an empty list', text: '', completions: 5, expected: '' },
    { name: 'parses single indexes and ranges', text: '0,2-4', completions: 5, expected: '0,2-4' },
    { name: 'joins neighbours', text: '0,1,2-3,5', completions: 6, expected: '0-3,5' },
    { name: 'ignores indexes that the Job no longer has', text: '1,4,7', completions: 4, expected: '1' },
    { name: 'cuts a range at the end of the Job', text: '0-9', completions: 4, expected: '0-3' },
    { name: 'ignores parts that are not numbers', text: 'x,1,2-y,4', completions: 9, expected: '1,4' },
    { name: 'ignores a descending range', text: '3-1,5', completions: 9, expected: '5' },
    { name: 'is empty for a Job without indexes', text: '0-3', completions: 0, expected: '' },
  ];
  for (const { name, text, completions, expected } of rows) {
    test(name, () => expect(formatIndexList(parseIndexList(text, completions))).toBe(expected));
  }
});

describe('formatIndexList', () => {
  const rows = [
    { name: 'is empty for no index', indexes: [], expected: '' },
    { name: 'formats one index', indexes: [7], expected: '7' },
    { name: 'formats two consecutive indexes with a comma', indexes: [1, 2], expected: '1,2' },
    { name: 'formats three consecutive indexes as a range', indexes: [3, 1, 2], expected: '1-3' },
    { name: 'formats each index once', indexes: [1, 1, 5, 5], expected: '1,5' },
  ];
  for (const { name, indexes, expected } of rows) {
    test(name, () => expect(formatIndexList(indexListOf(indexes))).toBe(expected));
  }
});

describe('index lists', () => {
  const list = indexListOf([0, 1, 2, 5, 8, 9]);

  test('count their indexes', () => expect(countIndexes(list)).toBe(6));

  for (let index = -1; index <= 10; index++) {
    test(`tell whether they have ${String(index)}`, () => {
      expect(hasIndex(list, index)).toBe([0, 1, 2, 5, 8, 9].includes(index));
    });
  }

  test('have a union', () => {
    expect(formatIndexList(unionOf(list, indexListOf([3, 4, 7]), indexListOf([12])))).toBe('0-5,7-9,12');
  });

  const intersections = [
    { other: [1, 2, 3], expected: '1,2' },
    { other: [0, 5, 9, 10], expected: '0,5,9' },
    { other: [3, 4], expected: '' },
    { other: [], expected: '' },
  ];
  for (const { other, expected } of intersections) {
    test(`have ${expected === '' ? 'nothing' : expected} in common with [${other.join()}]`, () => {
      expect(formatIndexList(intersectionOf(list, indexListOf(other)))).toBe(expected);
      expect(formatIndexList(intersectionOf(indexListOf(other), list))).toBe(expected);
    });
  }
});

describe('selectMissing', () => {
  const rows = [
    { name: 'selects the lowest first', has: [1, 3], count: 2, completions: 9, expected: [0, 2] },
    { name: 'selects no more than exist', has: [0, 2], count: 9, completions: 4, expected: [1, 3] },
    { name: 'selects indexes after the list', has: [0, 1], count: 2, completions: 9, expected: [2, 3] },
    { name: 'selects none for count 0', has: [], count: 0, completions: 9, expected: [] },
    { name: 'ignores indexes that the Job does not have', has: [7], count: 9, completions: 2, expected: [0, 1] },
  ];
  for (const { name, has, count, completions, expected } of rows) {
    test(name, () => expect(selectMissing(indexListOf(has), count, completions)).toEqual(expected));
  }
});
