import { describe, expect, test } from 'vitest';

import { objectKey } from '../../pkg/api/index.ts';
import { StatusPace } from './status-pace.ts';

describe('StatusPace', () => {
  const owner = objectKey('default', 'web');

  test('lets the first write go out at once and the next one after a tenth of a second', () => {
    let nowMs = 0;
    const pace = new StatusPace({ monotonic: () => nowMs });
    expect(pace.waitMs(owner)).toBe(0);
    pace.wrote(owner);
    nowMs = 40;
    expect(pace.waitMs(owner)).toBe(60);
    nowMs = 100;
    expect(pace.waitMs(owner)).toBe(0);
  });

  test('holds no owner back for the writes of another, or for those of a former one of its name', () => {
    const pace = new StatusPace({ monotonic: () => 0 });
    pace.wrote(owner);
    expect(pace.waitMs(objectKey('default', 'other'))).toBe(0);
    pace.forget(owner);
    expect(pace.waitMs(owner)).toBe(0);
  });
});
