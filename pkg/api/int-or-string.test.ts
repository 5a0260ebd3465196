import { describe, expect, test } from 'vitest';

import { scaledValue } from './int-or-string.ts';

describe('scaledValue', () => {
  const rows = [
    { value: 3, total: 10, up: 3, down: 3 },
    { value: 0, total: 10, up: 0, down: 0 },
    { value: 12, total: 10, up: 12, down: 12 },
    { value: '25%', total: 10, up: 3, down: 2 },
    { value: '50%', total: 10, up: 5, down: 5 },
    { value: '0%', total: 10, up: 0, down: 0 },
    { value: '100%', total: 7, up: 7, down: 7 },
    { value: '150%', total: 3, up: 5, down: 4 },
    { value: '1%', total: 0, up: 0, down: 0 },
    { value: '29%', total: 100, up: 29, down: 29 },
  ];
  for (const { value, total, up, down } of rows) {
    test(`${value} of ${total} is ${up} rounded up and ${down} rounded down`, () => {
      expect([scaledValue(value, total, 'up'), scaledValue(value, total, 'down')]).toEqual([up, down]);
    });
  }

  for (const value of ['', '3', '%', '2.5%', '25 %', '25%%', 'many', '0x10%']) {
    test(`refuses ${JSON.stringify(value)}`, () => {
      expect(() => scaledValue(value, 10, 'up')).toThrow(/neither a number nor a percentage/);
    });
  }
});
