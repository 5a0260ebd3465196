import { describe, expect, test } from 'vitest';

import { objectKey } from '../api/index.ts';
import { StatusPace } from './status-pace.ts';

const owner = objectKey('default', 'web');
const changed = { expectsMore: false, isCurrent: false };
const changing = { expectsMore: true, isCurrent: false };
const current = { expectsMore: false, isCurrent: true };
const changingOnly = { expectsMore: true, isCurrent: true };

/** One sync: when, what it finds, and how long its status write has to wait. */
interface Sync {
  readonly atMs: number;
  readonly of: typeof changed & { readonly intervalMs?: number };
  readonly expected: number;
}

const rows: { name: string; syncs: Sync[] }[] = [
  {
    name: 'a status that changes alone is written at once',
    syncs: [{ atMs: 0, of: changed, expected: 0 }],
  },
  {
    name: 'the next status waits for the interval',
    syncs: [
      { atMs: 0, of: changed, expected: 0 },
      { atMs: 20, of: changed, expected: 30 },
      { atMs: 50, of: changed, expected: 0 },
    ],
  },
  {
    name: 'the interval may be longer',
    syncs: [
      { atMs: 0, of: changed, expected: 0 },
      { atMs: 50, of: { ...changed, intervalMs: 1000 }, expected: 950 },
    ],
  },
  {
    name: 'a sync that changes dependents leaves the status to a later one',
    syncs: [
      { atMs: 0, of: changing, expected: 50 },
      { atMs: 20, of: changed, expected: 30 },
      { atMs: 50, of: changed, expected: 0 },
    ],
  },
  {
    name: 'so does one that has no status to write yet',
    syncs: [
      { atMs: 0, of: changingOnly, expected: 0 },
      { atMs: 10, of: changed, expected: 40 },
    ],
  },
  {
    name: 'changes in every sync defer the status once only',
    syncs: [
      { atMs: 0, of: changing, expected: 50 },
      { atMs: 30, of: changing, expected: 20 },
      { atMs: 50, of: changing, expected: 0 },
      { atMs: 60, of: changing, expected: 50 },
    ],
  },
  {
    name: 'the last change is written: a sync that has nothing to write ends the deferral',
    syncs: [
      { atMs: 0, of: changing, expected: 50 },
      { atMs: 20, of: current, expected: 0 },
      { atMs: 100, of: changed, expected: 0 },
    ],
  },
];

describe('StatusPace', () => {
  for (const { name, syncs } of rows) {
    test(name, () => {
      let nowMs = 0;
      const pace = new StatusPace({ monotonic: () => nowMs });
      for (const { atMs, of, expected } of syncs) {
        nowMs = atMs;
        expect(pace.waitMs(owner, of), `at ${atMs} ms`).toBe(expected);
        if (expected === 0 && !of.isCurrent) pace.wrote(owner);
      }
    });
  }

  test('a new owner of the same name does not wait', () => {
    const pace = new StatusPace({ monotonic: () => 0 });
    pace.waitMs(owner, changing);
    pace.forget(owner);
    expect(pace.waitMs(owner, changed)).toBe(0);
  });
});
