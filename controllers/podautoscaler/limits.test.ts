import { describe, expect, test } from 'vitest';

import type { HPAScalingRules } from '../../pkg/api/index.ts';
import type { ScaleEvent } from './history.ts';
import { limitRate, limitReplicas, longestPeriodSeconds } from './limits.ts';

describe('limitReplicas', () => {
  const rows: [name: string, current: number, desired: number, min: number, max: number, expected: [number, string]][] =
    [
      ['allows what is within the bounds', 3, 5, 1, 10, [5, 'DesiredWithinRange']],
      ['keeps the minimum', 3, 0, 2, 10, [2, 'TooFewReplicas']],
      ['keeps the maximum', 3, 9, 1, 5, [5, 'TooManyReplicas']],
      ['at most doubles', 3, 9, 1, 10, [6, 'ScaleUpLimit']],
      ['may always reach four', 1, 9, 1, 10, [4, 'ScaleUpLimit']],
      ['names the maximum if both apply', 5, 99, 1, 10, [10, 'TooManyReplicas']],
    ];
  test.each(rows)('%s', (_name, current, desired, minReplicas, maxReplicas, expected) => {
    const { replicas, reason } = limitReplicas(current, desired, { minReplicas, maxReplicas });
    expect([replicas, reason]).toEqual(expected);
  });
});

const nowMs = 10_000_000;
const event = (change: number, agoSeconds: number): ScaleEvent => ({
  change,
  atMs: nowMs - agoSeconds * 1000,
  isOutdated: false,
});
const rules = (selectPolicy: string, ...policies: [string, number, number][]): HPAScalingRules => ({
  selectPolicy,
  policies: policies.map(([type, value, periodSeconds]) => ({ type, value, periodSeconds })),
});
const fast = rules('Max', ['Percent', 100, 15]);

interface Row {
  readonly name: string;
  readonly scaleUp?: HPAScalingRules;
  readonly scaleDown?: HPAScalingRules;
  readonly current: number;
  readonly desired: number;
  readonly ups?: ScaleEvent[];
  readonly downs?: ScaleEvent[];
  readonly expected: [number, string];
}

const rows: readonly Row[] = [
  { name: 'changes nothing', current: 5, desired: 5, expected: [5, 'DesiredWithinRange'] },
  {
    name: 'adds pods by policy',
    scaleUp: rules('Max', ['Pods', 2, 60]),
    current: 3,
    desired: 9,
    expected: [5, 'ScaleUpLimit'],
  },
  {
    name: 'counts what the period has added',
    scaleUp: rules('Max', ['Pods', 2, 60]),
    current: 5,
    desired: 9,
    ups: [event(2, 30)],
    expected: [5, 'ScaleUpLimit'],
  },
  {
    name: 'forgets it after the period',
    scaleUp: rules('Max', ['Pods', 2, 60]),
    current: 5,
    desired: 9,
    ups: [event(2, 60)],
    expected: [7, 'ScaleUpLimit'],
  },
  {
    name: 'gives back what the period has removed',
    scaleUp: rules('Max', ['Pods', 2, 60]),
    current: 3,
    desired: 9,
    downs: [event(4, 30)],
    expected: [9, 'DesiredWithinRange'],
  },
  {
    name: 'rounds a percentage up',
    scaleUp: rules('Max', ['Percent', 10, 60]),
    current: 3,
    desired: 9,
    expected: [4, 'ScaleUpLimit'],
  },
  {
    name: 'takes the largest policy',
    scaleUp: rules('Max', ['Pods', 1, 60], ['Percent', 100, 60]),
    current: 3,
    desired: 9,
    expected: [6, 'ScaleUpLimit'],
  },
  {
    name: 'or the smallest',
    scaleUp: rules('Min', ['Pods', 1, 60], ['Percent', 100, 60]),
    current: 3,
    desired: 9,
    expected: [4, 'ScaleUpLimit'],
  },
  {
    name: 'never adds if disabled',
    scaleUp: rules('Disabled', ['Pods', 4, 60]),
    current: 3,
    desired: 9,
    expected: [3, 'ScaleUpLimit'],
  },
  { name: 'keeps the maximum', scaleUp: fast, current: 8, desired: 99, expected: [12, 'TooManyReplicas'] },
  {
    name: 'never adds if the sum overflows, as in Go',
    scaleUp: rules('Max', ['Pods', 2 ** 31 - 1, 60]),
    current: 3,
    desired: 9,
    expected: [3, 'ScaleUpLimit'],
  },
  {
    name: 'removes pods by policy',
    scaleDown: rules('Max', ['Pods', 2, 60]),
    current: 9,
    desired: 2,
    expected: [7, 'ScaleDownLimit'],
  },
  {
    name: 'counts what the period has removed',
    scaleDown: rules('Max', ['Pods', 2, 60]),
    current: 7,
    desired: 2,
    downs: [event(2, 30)],
    expected: [7, 'ScaleDownLimit'],
  },
  {
    name: 'takes the smallest removal',
    scaleDown: rules('Min', ['Pods', 1, 60], ['Percent', 50, 60]),
    current: 8,
    desired: 2,
    expected: [7, 'ScaleDownLimit'],
  },
  {
    name: 'or the largest',
    scaleDown: rules('Max', ['Pods', 1, 60], ['Percent', 50, 60]),
    current: 9,
    desired: 2,
    expected: [4, 'ScaleDownLimit'],
  },
  {
    name: 'never removes if disabled',
    scaleDown: rules('Disabled'),
    current: 9,
    desired: 2,
    expected: [9, 'ScaleDownLimit'],
  },
  { name: 'keeps the minimum', scaleDown: fast, current: 9, desired: 0, expected: [2, 'TooFewReplicas'] },
];

describe('limitRate', () => {
  for (const { name, scaleUp = fast, scaleDown = fast, current, desired, ups = [], downs = [], expected } of rows) {
    test(name, () => {
      const { replicas, reason } = limitRate({
        minReplicas: 2,
        maxReplicas: 12,
        currentReplicas: current,
        desiredReplicas: desired,
        behavior: { scaleUp, scaleDown },
        history: { scaleUps: ups, scaleDowns: downs },
        nowMs,
      });
      expect([replicas, reason]).toEqual(expected);
    });
  }
});

test('the longest period of all policies counts', () => {
  expect(longestPeriodSeconds(rules('Max', ['Pods', 1, 60], ['Pods', 1, 15]))).toBe(60);
  expect(longestPeriodSeconds({})).toBe(0);
});
