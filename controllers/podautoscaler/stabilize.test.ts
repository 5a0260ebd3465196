import { describe, expect, test } from 'vitest';

import { addScaleEvent, startHistory, type Recommendation } from './history.ts';
import { stabilizeBoth, stabilizeDownscale } from './stabilize.ts';

const nowMs = 1_000_000;
const ago = (replicas: number, seconds: number): Recommendation => ({ replicas, atMs: nowMs - seconds * 1000 });

describe('stabilizeDownscale, over 300 seconds', () => {
  const rows: [name: string, known: Recommendation[], desired: number, expected: number, kept: number][] = [
    ['takes the first recommendation', [], 3, 3, 1],
    ['keeps the highest of the window', [ago(5, 10), ago(8, 200), ago(9, 301)], 3, 8, 3],
    ['includes the edge of the window', [ago(9, 300)], 3, 9, 2],
    ['rises at once', [ago(5, 10)], 12, 12, 2],
    ['replaces one old recommendation', [ago(9, 400), ago(9, 350), ago(4, 10)], 3, 4, 3],
  ];
  test.each(rows)('%s', (_name, known, desired, expected, kept) => {
    const { replicas, recommendations } = stabilizeDownscale(known, desired, 300_000, nowMs);
    expect(replicas).toBe(expected);
    expect(recommendations).toHaveLength(kept);
    expect(recommendations).toContainEqual({ replicas: desired, atMs: nowMs });
  });
});

describe('stabilizeBoth, up over 60 and down over 300 seconds', () => {
  const rows: [name: string, current: number, desired: number, known: Recommendation[], expected: number][] = [
    ['rises if all of the window did', 4, 9, [ago(8, 30), ago(2, 60)], 8],
    ['waits with rising', 4, 9, [ago(3, 30)], 4],
    ['falls if all of the window did', 9, 3, [ago(5, 200), ago(9, 300)], 5],
    ['waits with falling', 9, 3, [ago(12, 200)], 9],
    ['never turns around', 5, 6, [ago(2, 10), ago(9, 100)], 5],
  ];
  test.each(rows)('%s', (_name, currentReplicas, desiredReplicas, known, expected) => {
    const windows = { upSeconds: 60, downSeconds: 300 };
    const result = stabilizeBoth(known, { currentReplicas, desiredReplicas }, windows, nowMs);
    expect(result.replicas).toBe(expected);
    expect(result.reason).toBe(desiredReplicas >= currentReplicas ? 'ScaleUpStabilized' : 'ScaleDownStabilized');
  });
});

describe('the history of an autoscaler', () => {
  test('starts with the present replicas', () => {
    expect(startHistory(7, nowMs).recommendations).toEqual([{ replicas: 7, atMs: nowMs }]);
  });

  test('replaces a change that no policy counts any more', () => {
    const first = addScaleEvent([], 2, 60, nowMs - 91_000);
    const second = addScaleEvent(first, 3, 60, nowMs - 30_000);
    expect(second).toEqual([{ change: 3, atMs: nowMs - 30_000, isOutdated: false }]);
    expect(addScaleEvent(second, 1, 60, nowMs)).toHaveLength(2);
  });
});
