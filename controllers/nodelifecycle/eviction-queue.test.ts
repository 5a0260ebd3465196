import { describe, expect, test } from 'vitest';

import { EvictionQueue } from './eviction-queue.ts';

const always = (): boolean => true;

function queueOf(rate: number, ...nodes: string[]): EvictionQueue {
  const queue = new EvictionQueue();
  queue.addZone('a', rate);
  for (const node of nodes) queue.add('a', node);
  return queue;
}

describe('EvictionQueue', () => {
  test('returns the first node at once, then nodes at the rate of the zone in FIFO order', () => {
    const queue = queueOf(0.1, 'one', 'two', 'three');
    expect(queue.takeNext('a', 0, always)).toBe('one');
    expect(queue.takeNext('a', 9999, always)).toBeUndefined();
    expect(queue.takeNext('a', 10_000, always)).toBe('two');
    expect(queue.takeNext('a', 60_000, always)).toBe('three'); // tokens do not accumulate
    expect(queue.busyZones()).toEqual([]);
  });

  test('spends no token on nodes that are no longer due', () => {
    const queue = queueOf(0.1, 'back', 'lost');
    expect(queue.takeNext('a', 0, (node) => node === 'lost')).toBe('lost');
  });

  test('keeps the place of a node that is added again', () => {
    const queue = queueOf(1, 'one', 'two');
    queue.add('a', 'one');
    expect(queue.takeNext('a', 0, always)).toBe('one');
  });

  test('moves a node with its zone', () => {
    const queue = queueOf(1, 'one');
    queue.addZone('b', 1);
    queue.add('b', 'one');
    expect(queue.busyZones()).toEqual(['b']);
  });

  test('drops the waiting nodes of a removed zone', () => {
    const queue = queueOf(1, 'one');
    queue.removeZone('a');
    queue.addZone('a', 1);
    expect(queue.takeNext('a', 0, always)).toBeUndefined();
    queue.add('a', 'one');
    expect(queue.takeNext('a', 0, always)).toBe('one');
  });

  test('returns no node at rate 0', () => {
    expect(queueOf(0, 'one').takeNext('a', 1e9, always)).toBeUndefined();
  });

  test('waits for the first token after rate 0', () => {
    const queue = queueOf(0.1, 'one');
    queue.setRate('a', 0, 0);
    queue.setRate('a', 0.1, 100_000);
    expect(queue.takeNext('a', 100_000, always)).toBeUndefined();
    expect(queue.takeNext('a', 110_000, always)).toBe('one');
  });

  test('keeps at most one token when the rate changes', () => {
    const fresh = queueOf(0.1, 'one');
    fresh.setRate('a', 0.01, 0);
    expect(fresh.takeNext('a', 0, always)).toBe('one');
    const used = queueOf(0.1, 'one', 'two');
    used.takeNext('a', 0, always);
    used.setRate('a', 0.01, 0);
    expect(used.takeNext('a', 99_000, always)).toBeUndefined();
    expect(used.takeNext('a', 100_000, always)).toBe('two');
  });
});
