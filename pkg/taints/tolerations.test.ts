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
    { name: 'has nothing to bear without taints', taints: [], tolerations: [], expected: forever },
    { name: 'bears nothing without tolerations', taints: [taint('a')], tolerations: [], expected: 0 },
    {
      name: 'bears for ever',
      taints: [taint('a')],
      tolerations: [{ key: 'a', operator: 'Exists' }],
      expected: forever,
    },
    {
      name: 'bears everything with an empty key',
      taints: [taint('a', 'x')],
      tolerations: [{ operator: 'Exists' }],
      expected: forever,
    },
    {
      name: 'bears for a time',
      taints: [taint('a')],
      tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }],
      expected: 300_000,
    },
    {
      name: 'bears two taints for the shorter time',
      taints: [taint('a'), taint('b')],
      tolerations: [
        { key: 'a', operator: 'Exists', tolerationSeconds: 300 },
        { key: 'b', operator: 'Exists', tolerationSeconds: 10 },
      ],
      expected: 10_000,
    },
    {
      name: 'is not shortened by one that is borne for ever',
      taints: [taint('a'), taint('b')],
      tolerations: [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'Exists', tolerationSeconds: 10 },
      ],
      expected: 10_000,
    },
    {
      name: 'counts the first toleration that matches',
      taints: [taint('a')],
      tolerations: [
        { key: 'a', operator: 'Exists', tolerationSeconds: 300 },
        { key: 'a', operator: 'Exists', tolerationSeconds: 10 },
      ],
      expected: 300_000,
    },
    {
      name: 'needs all taints to be borne',
      taints: [taint('a'), taint('b')],
      tolerations: [{ key: 'a', operator: 'Exists' }],
      expected: 0,
    },
    {
      name: 'takes a negative time for none',
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
      name: 'takes a missing value for an empty one',
      taints: [taint('a')],
      tolerations: [{ key: 'a', value: '' }],
      expected: forever,
    },
    {
      name: 'minds the effect',
      taints: [taint('a')],
      tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
      expected: 0,
    },
    {
      name: 'does not know odd operators',
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
    { name: 'a smaller taint is less', operator: 'Lt', own: '10', taints: '9', allowed: true, borne: true },
    { name: 'an equal one is not', operator: 'Lt', own: '10', taints: '10', allowed: true, borne: false },
    { name: 'a larger taint is greater', operator: 'Gt', own: '-10', taints: '0', allowed: true, borne: true },
    { name: 'they need their gate', operator: 'Lt', own: '10', taints: '9', allowed: false, borne: false },
    { name: 'words do not compare', operator: 'Lt', own: '10', taints: 'nine', allowed: true, borne: false },
    { name: 'nor do leading zeros', operator: 'Lt', own: '010', taints: '9', allowed: true, borne: false },
    {
      name: 'nor what no 64 bits hold',
      operator: 'Gt',
      own: '9',
      taints: '9223372036854775808',
      allowed: true,
      borne: false,
    },
    {
      name: 'but all that they do',
      operator: 'Gt',
      own: '9',
      taints: '9223372036854775807',
      allowed: true,
      borne: true,
    },
  ];
  for (const { name, operator, own, taints, allowed, borne } of rows) {
    test(name, () => {
      const ms = toleratedMs([taint('a', taints)], [{ key: 'a', operator, value: own }], { allowComparisons: allowed });
      expect(ms).toBe(borne ? undefined : 0);
    });
  }
});
