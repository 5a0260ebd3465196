import { describe, expect, test } from 'vitest';

import { GroupedFifo } from './grouped-fifo.ts';

function fill(...keys: readonly string[]): GroupedFifo<string> {
  const fifo = new GroupedFifo<string>((key) => key.charAt(0));
  for (const key of keys) fifo.push(key);
  return fifo;
}

function drain(fifo: GroupedFifo<string>, except?: string): (string | undefined)[] {
  const keys = [];
  for (let key = fifo.shift(except); key !== undefined; key = fifo.shift(except)) keys.push(key);
  return keys;
}

describe('GroupedFifo', () => {
  test('one group is first in, first out', () => {
    expect(drain(fill('a1', 'a2', 'a3'))).toEqual(['a1', 'a2', 'a3']);
  });

  test('groups take turns', () => {
    expect(drain(fill('a1', 'a2', 'a3', 'b1', 'c1', 'b2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  test('a group that gets keys again queues behind the others', () => {
    const fifo = fill('a1', 'b1', 'b2');
    expect(fifo.shift()).toBe('a1');
    fifo.push('a2');
    expect(drain(fifo)).toEqual(['b1', 'a2', 'b2']);
  });

  test('a group can be skipped', () => {
    const fifo = fill('a1', 'b1', 'a2', 'b2');
    expect(drain(fifo, 'a')).toEqual(['b1', 'b2']);
    expect(fifo.length).toBe(2);
    expect(drain(fifo)).toEqual(['a1', 'a2']);
    expect(fifo.length).toBe(0);
  });
});
