import { describe, expect, test } from 'vitest';

import { objectKey } from '../../pkg/api/index.ts';
import { Pace, reconcileIntervalMs } from './pace.ts';

describe('Pace', () => {
  const owner = objectKey('default', 'web');

  test('lets the first run begin at once and the next one after the interval', () => {
    let nowMs = 0;
    const pace = new Pace({ monotonic: () => nowMs });
    expect(pace.waitMs(owner, 100)).toBe(0);
    pace.ran(owner);
    nowMs = 40;
    expect(pace.waitMs(owner, 100)).toBe(60);
    nowMs = 100;
    expect(pace.waitMs(owner, 100)).toBe(0);
  });

  test('holds no owner back for the runs of another, or for those of a former one of its name', () => {
    const pace = new Pace({ monotonic: () => 0 });
    pace.ran(owner);
    expect(pace.waitMs(objectKey('default', 'other'), 100)).toBe(0);
    pace.forget(owner);
    expect(pace.waitMs(owner, 100)).toBe(0);
  });
});

describe('reconcileIntervalMs', () => {
  test('grows with the number of pods up to a tenth of a second', () => {
    expect([0, 10, 500, 1000, 5000].map(reconcileIntervalMs)).toEqual([0, 1, 50, 100, 100]);
  });
});
