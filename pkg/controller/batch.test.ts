import { describe, expect, test } from 'vitest';

import { slowStart } from './batch.ts';

describe('slowStart', () => {
  const rows = [
    { name: 'doubles while all goes well', count: 10, failing: [], batches: [1, 2, 4, 3], succeeded: 10 },
    {
      name: 'skips the rest after a failure, but not what runs beside it',
      count: 10,
      failing: [1],
      batches: [1, 2],
      succeeded: 2,
    },
    { name: 'costs one request when all would fail', count: 1000, failing: [0], batches: [1], succeeded: 0 },
    { name: 'does nothing for none', count: 0, failing: [], batches: [], succeeded: 0 },
  ];
  for (const { name, count, failing, batches, succeeded } of rows) {
    test(name, async () => {
      const seen: number[] = [];
      let running = 0;
      const result = await slowStart(count, async (index) => {
        running += 1;
        await Promise.resolve();
        if (running > 0) seen.push(running);
        running = 0;
        if (failing.includes(index)) throw new Error(`task ${index}`);
      });
      expect(seen).toEqual(batches);
      expect(result.succeeded).toBe(succeeded);
      expect(result.error instanceof Error).toBe(failing.length > 0);
    });
  }
});
