import { describe, expect, test } from 'vitest';

import { formatAge } from './column.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const rows: readonly (readonly [number, string])[] = [
  [0, '0s'],
  [119 * second, '119s'],
  [2 * minute, '2m'],
  [2 * minute + 5 * second, '2m5s'],
  [10 * minute + 59 * second, '10m'],
  [179 * minute, '179m'],
  [3 * hour, '3h'],
  [3 * hour + 4 * minute, '3h4m'],
  [8 * hour + 4 * minute, '8h'],
  [47 * hour, '47h'],
  [2 * day, '2d'],
  [2 * day + hour, '2d1h'],
  [8 * day + hour, '8d'],
  [729 * day, '729d'],
  [730 * day, '2y'],
  [800 * day, '2y70d'],
  [10 * 365 * day, '10y'],
  [-5 * second, '<invalid>'],
];

describe('formatAge', () => {
  for (const [ms, expected] of rows) {
    test(`tells ${ms} ms as ${expected}`, () => expect(formatAge(ms)).toBe(expected));
  }
});
