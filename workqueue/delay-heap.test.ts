import { describe, expect, test } from 'vitest';
import { FakeClock } from '../test/support/fake-clock.ts';
import { seededRandom } from '../test/support/random.ts';
import { DelayHeap, InvalidDelayError } from './delay-heap.ts';

function createHeap() {
  const clock = new FakeClock();
  const released: { key: string; atMs: number }[] = [];
  const heap = new DelayHeap<string>(clock, (key) => released.push({ key, atMs: clock.monotonic() }));
  return { clock, released, heap };
}

describe('DelayHeap', () => {
  test('releases each key at its time, the earliest first', async () => {
    const { clock, released, heap } = createHeap();
    heap.add('late', 300);
    heap.add('early', 100);
    heap.add('middle', 200);
    await clock.advance(250);
    expect(released).toEqual([
      { key: 'early', atMs: 100 },
      { key: 'middle', atMs: 200 },
    ]);
    await clock.advance(50);
    expect(released.at(-1)).toEqual({ key: 'late', atMs: 300 });
    expect(clock.pendingTimers).toBe(0);
  });

  test('a removed key is not released, and the others are in their order', async () => {
    const { clock, released, heap } = createHeap();
    const delays = [50, 10, 40, 20, 60, 30, 70];
    for (const delayMs of delays) heap.add(String(delayMs), delayMs);
    for (const key of ['10', '60', '40', 'unknown']) heap.remove(key);
    expect(heap.size).toBe(4);
    await clock.advance(100);
    expect(released).toEqual([20, 30, 50, 70].map((atMs) => ({ key: String(atMs), atMs })));
    heap.add('only', 10);
    heap.remove('only');
    expect(clock.pendingTimers).toBe(0);
  });

  test('releases keys of the same time in the order they were added', async () => {
    const { clock, released, heap } = createHeap();
    for (const key of ['c', 'a', 'd', 'b']) heap.add(key, 10);
    await clock.advance(10);
    expect(released.map(({ key }) => key)).toEqual(['c', 'a', 'd', 'b']);
  });

  const delays = [
    { name: 'an earlier second delay wins', first: 200, second: 50, expectedMs: 50 },
    { name: 'a later second delay changes nothing', first: 50, second: 200, expectedMs: 50 },
  ];
  for (const { name, first, second, expectedMs } of delays) {
    test(name, async () => {
      const { clock, released, heap } = createHeap();
      heap.add('key', first);
      heap.add('key', second);
      await clock.advance(1000);
      expect(released).toEqual([{ key: 'key', atMs: expectedMs }]);
    });
  }

  test('never has more than one timer', async () => {
    const { clock, heap } = createHeap();
    for (let i = 0; i < 100; i++) {
      heap.add(`key-${i}`, 1000 - i);
      expect(clock.pendingTimers).toBe(1);
    }
    await clock.advance(950);
    expect(heap.size).toBe(50);
    expect(clock.pendingTimers).toBe(1);
  });

  test('waits for fractions of a millisecond without firing early', async () => {
    const { clock, released, heap } = createHeap();
    heap.add('key', 0.4);
    await clock.advance(0.5);
    expect(released).toEqual([]);
    await clock.advance(0.5);
    expect(released).toEqual([{ key: 'key', atMs: 1 }]);
  });

  test('forgets everything, and its timer, when cleared', async () => {
    const { clock, released, heap } = createHeap();
    heap.add('key', 10);
    heap.clear();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(100);
    expect(released).toEqual([]);
    heap.add('key', 10);
    await clock.advance(10);
    expect(released).toHaveLength(1);
  });

  test('releases more keys than one batch holds', async () => {
    const { clock, released, heap } = createHeap();
    for (let i = 0; i < 12_000; i++) heap.add(`key-${i}`, 5);
    await clock.advance(5);
    expect(released).toHaveLength(12_000);
    expect(released.at(-1)).toEqual({ key: 'key-11999', atMs: 5 });
  });

  for (const seed of [1, 2, 3]) {
    test(`releases every key at its earliest time (seed ${seed})`, async () => {
      const { clock, released, heap } = createHeap();
      const random = seededRandom(seed);
      const dueMs = new Map<string, number>();
      const expected: { key: string; atMs: number }[] = [];
      for (let step = 0; step < 2000; step++) {
        const key = `key-${Math.floor(random() * 200)}`;
        const delayMs = 1 + Math.floor(random() * 500);
        heap.add(key, delayMs);
        const wantedMs = clock.monotonic() + delayMs;
        dueMs.set(key, Math.min(dueMs.get(key) ?? Infinity, wantedMs));
        if (random() > 0.2) continue;
        await clock.advance(Math.floor(random() * 50));
        const due = [...dueMs].filter(([, atMs]) => atMs <= clock.monotonic());
        for (const [dueKey, atMs] of due) {
          dueMs.delete(dueKey);
          expected.push({ key: dueKey, atMs });
        }
      }
      const sorted = (list: typeof expected): string[] => list.map(({ key, atMs }) => `${atMs} ${key}`).sort();
      expect(sorted(released)).toEqual(sorted(expected));
      expect(released.map(({ atMs }) => atMs)).toEqual(released.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
      expect(heap.size).toBe(dueMs.size);
    });
  }

  for (const delayMs of [Number.NaN, Infinity, -Infinity]) {
    test(`refuses a delay of ${delayMs}, and goes on releasing the others`, async () => {
      const { clock, released, heap } = createHeap();
      expect(() => heap.add('never', delayMs)).toThrow(InvalidDelayError);
      heap.add('later', 20);
      heap.add('sooner', 10);
      await clock.advance(20);
      expect(released.map(({ key }) => key)).toEqual(['sooner', 'later']);
      expect(heap.size).toBe(0);
    });
  }
});
