import { describe, expect, test } from 'vitest';

import { runBounded, slowStart } from './batch.ts';

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

describe('runBounded', () => {
  test('never runs more tasks at once than allowed, and runs them all', async () => {
    let running = 0;
    let most = 0;
    const done: number[] = [];
    await runBounded(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      done.push(item);
    });
    expect(most).toBe(3);
    expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('tries every item in spite of failures, and throws the first of them in the end', async () => {
    const tried: number[] = [];
    const result = runBounded(2, [1, 2, 3, 4], async (item) => {
      tried.push(item);
      await Promise.resolve();
      if (item % 2 === 0) throw new Error(`task ${item}`);
    });
    await expect(result).rejects.toThrow('task 2');
    expect(tried.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
  });
});
