import { describe, expect, test } from 'vitest';

import { reconcileIntervalMs } from './intervals.ts';

describe('reconcileIntervalMs', () => {
  test('grows with the number of pods up to 100 ms', () => {
    expect([0, 10, 500, 1000, 5000].map(reconcileIntervalMs)).toEqual([0, 1, 50, 100, 100]);
  });
});
