import { describe, expect, test } from 'vitest';
import { Fifo } from './fifo.ts';

describe('Fifo', () => {
  test('returns undefined when empty', () => {
    const fifo = new Fifo<number>();
    expect(fifo.shift()).toBeUndefined();
    expect(fifo.length).toBe(0);
  });

  test('keeps the order over many chunks and refills', () => {
    const fifo = new Fifo<number>();
    const taken: (number | undefined)[] = [];
    let next = 0;
    // More goes in than out at first, so that chunks pile up; then the rest is taken.
    for (let round = 0; round < 50; round++) {
      for (let i = 0; i < 100 + round; i++) fifo.push(next++);
      for (let i = 0; i < 60; i++) taken.push(fifo.shift());
    }
    while (fifo.length > 0) taken.push(fifo.shift());
    expect(taken).toEqual(Array.from({ length: next }, (_, i) => i));
    fifo.push(-1);
    expect(fifo.shift()).toBe(-1);
  });

  for (const size of [1023, 1024, 1025, 2048]) {
    test(`is empty and usable again after ${size} items`, () => {
      const fifo = new Fifo<number>();
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < size; i++) fifo.push(i);
        for (let i = 0; i < size; i++) expect(fifo.shift()).toBe(i);
        expect(fifo.shift()).toBeUndefined();
      }
    });
  }

  test('peek shows the oldest item and takes nothing', () => {
    const fifo = new Fifo<string>();
    expect(fifo.peek()).toBeUndefined();
    fifo.push('a');
    fifo.push('b');
    expect([fifo.peek(), fifo.length, fifo.shift(), fifo.peek()]).toEqual(['a', 2, 'a', 'b']);
  });

  test('clear leaves nothing behind, and the order starts again', () => {
    const fifo = new Fifo<number>();
    for (let item = 0; item < 3000; item++) fifo.push(item);
    fifo.clear();
    expect([fifo.length, fifo.peek(), fifo.shift()]).toEqual([0, undefined, undefined]);
    fifo.push(7);
    expect([fifo.length, fifo.shift()]).toEqual([1, 7]);
  });
});
