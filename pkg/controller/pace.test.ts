import { describe, expect, test } from 'vitest';

import { objectKey } from '../api/index.ts';
import { Pace } from './pace.ts';

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
