import { describe, expect, test } from 'vitest';

import type { Taint, Toleration } from '../api/index.ts';
import { node } from '../../test/support/builders.ts';
import { noExecuteTaints, toleratedMs } from './tolerations.ts';

const taint = (key: string, value?: string): Taint => ({
  key,
  effect: 'NoExecute',
  ...(value === undefined ? {} : { value }),
});

test('only NoExecute taints evict', () => {
  const taints = [taint('a'), { key: 'b', effect: 'NoSchedule' }, taint('c')];
  expect(noExecuteTaints(node({ spec: { taints } })).map(({ key }) => key)).toEqual(['a', 'c']);
  expect(noExecuteTaints(node())).toEqual([]);
});

describe('toleratedMs', () => {
  const forever = undefined;
  const rows: { name: string; taints: Taint[]; tolerations: Toleration[]; expected: number | undefined }[] = [
    { name: 'is forever without taints', taints: [], tolerations: [], expected: forever },
    { name: 'is 0 without tolerations', taints: [taint('a')], tolerations: [], expected: 0 },
    {
      name: 'tolerates forever',
      taints: [taint('a')],
      tolerations: [{ key: 'a', operator: 'Exists' }],
      expected: forever,
    },
    {
      name: 'tolerates all taints with an empty key',
      taints: [taint('a', 'x')],
      tolerations: [{ operator: 'Exists' }],
      expected: forever,
    },
    {
      name: 'tolerates for a time',
      taints: [taint('a')],
      tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }],
      expected: 300_000,
    },
    {
      name: 'tolerates two taints for the shorter time',
      taints: [taint('a'), taint('b')],
      tolerations: [
        { key: 'a', operator: 'Exists', tolerationSeconds: 300 },
        { key: 'b', operator: 'Exists', tolerationSeconds: 10 },
      ],
      expected: 10_000,
    },
    {
      name: 'is not shortened by a taint that is tolerated forever',
      taints: [taint('a'), taint('b')],
      tolerations: [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'Exists', tolerationSeconds: 10 },
      ],
      expected: 10_000,
    },
    {
      name: 'uses the first toleration that matches',
      taints: [taint('a')],
      tolerations: [
        { key: 'a', operator: 'Exists', tolerationSeconds: 300 },
        { key: 'a', operator: 'Exists', tolerationSeconds: 10 },
      ],
      expected: 300_000,
    },
    {
      name: 'requires all taints to be tolerated',
      taints: [taint('a'), taint('b')],
      tolerations: [{ key: 'a', operator: 'Exists' }],
      expected: 0,
    },
    {
      name: 'treats a negative time as 0',
      taints: [taint('a')],
      tolerations: [{ key: 'a', operator: 'Exists', tolerationSeconds: -5 }],
      expected: 0,
    },
    { name: 'compares values', taints: [taint('a', 'x')], tolerations: [{ key: 'a', value: 'x' }], expected: forever },
    {
      name: 'compares other values',
      taints: [taint('a', 'x')],
      tolerations: [{ key: 'a', operator: 'Equal', value: 'y' }],
      expected: 0,
    },
    {
      name: 'treats a missing value as empty',
      taints: [taint('a')],
      tolerations: [{ key: 'a', value: '' }],
      expected: forever,
    },
    {
      name: 'compares the effect',
      taints: [taint('a')],
      tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
      expected: 0,
    },
    {
      name: 'rejects unknown operators',
      taints: [taint('a')],
      tolerations: [{ key: 'a', operator: 'Like' }],
      expected: 0,
    },
  ];
  for (const { name, taints, tolerations, expected } of rows)
    test(name, () => expect(toleratedMs(taints, tolerations, { allowComparisons: false })).toBe(expected));
});

describe('comparisons', () => {
  const rows = [
    { name: 'a smaller taint is less', operator: 'Lt', own: '10', taints: '9', allowed: true, tolerated: true },
    { name: 'an equal one is not', operator: 'Lt', own: '10', taints: '10', allowed: true, tolerated: false },
    { name: 'a larger taint is greater', operator: 'Gt', own: '-10', taints: '0', allowed: true, tolerated: true },
    { name: 'they need their gate', operator: 'Lt', own: '10', taints: '9', allowed: false, tolerated: false },
    { name: 'words do not compare', operator: 'Lt', own: '10', taints: 'nine', allowed: true, tolerated: false },
    { name: 'leading zeros do not compare', operator: 'Lt', own: '010', taints: '9', allowed: true, tolerated: false },
    {
      name: 'values beyond int64 do not compare',
      operator: 'Gt',
      own: '9',
      taints: '9223372036854775808',
      allowed: true,
      tolerated: false,
    },
    {
      name: 'all int64 values compare',
      operator: 'Gt',
      own: '9',
      taints: '9223372036854775807',
      allowed: true,
      tolerated: true,
    },
  ];
  for (const { name, operator, own, taints, allowed, tolerated } of rows) {
    test(name, () => {
      const ms = toleratedMs([taint('a', taints)], [{ key: 'a', operator, value: own }], { allowComparisons: allowed });
      expect(ms).toBe(tolerated ? undefined : 0);
    });
  }
});
