import { describe, expect, test } from 'vitest';

import { forEachInTurns } from './turns.ts';

describe('forEachInTurns', () => {
  const items = Array.from({ length: 200 }, (_, index) => index);

  test('visits every item in order', async () => {
    const visited: number[] = [];
    await forEachInTurns(items, { monotonic: () => 0 }, (item) => visited.push(item));
    expect(visited).toEqual(items);
  });

  test('lets others have their turn when visits take long', async () => {
    let nowMs = 0;
    let visits = 0;
    const visitsAtTurns: number[] = [];
    const takeTurn = (): void => {
      visitsAtTurns.push(visits);
      if (visits < items.length) setImmediate(takeTurn);
    };
    setImmediate(takeTurn);
    await forEachInTurns(items, { monotonic: () => nowMs }, () => {
      nowMs += 1;
      visits += 1;
    });
    expect(visitsAtTurns.slice(0, 3)).toEqual([32, 64, 96]);
  });
});
