import { describe, expect, test } from 'vitest';

import { findCondition, isConditionTrue } from './conditions.ts';

const ready = { type: 'Ready', status: 'True', reason: 'Started' };
const unknown = { type: 'DiskPressure', status: 'Unknown', reason: 'NodeStatusUnknown' };
const conditions = [unknown, ready];

describe('findCondition', () => {
  const rows = [
    { name: 'finds a condition by its type', list: conditions, type: 'Ready', expected: ready },
    { name: 'returns undefined for a type that is absent', list: conditions, type: 'ready', expected: undefined },
    { name: 'returns undefined for an empty list', list: [], type: 'Ready', expected: undefined },
    { name: 'returns undefined for an absent list', list: undefined, type: 'Ready', expected: undefined },
    {
      name: 'returns the first of two conditions of one type',
      list: [ready, { ...ready, status: 'False' }],
      type: 'Ready',
      expected: ready,
    },
  ];
  for (const { name, list, type, expected } of rows) {
    test(name, () => expect(findCondition(list, type)).toBe(expected));
  }
});

describe('isConditionTrue', () => {
  const rows = [
    { status: 'True', expected: true },
    { status: 'False', expected: false },
    { status: 'Unknown', expected: false },
    { status: 'true', expected: false },
    { status: '', expected: false },
  ];
  for (const { status, expected } of rows) {
    test(`is ${expected} for the status ${JSON.stringify(status)}`, () => {
      expect(isConditionTrue([{ type: 'Ready', status }], 'Ready')).toBe(expected);
    });
  }

  test('is false for a condition or a list that is absent', () => {
    expect(isConditionTrue([ready], 'DiskPressure')).toBe(false);
    expect(isConditionTrue(undefined, 'Ready')).toBe(false);
  });
});
