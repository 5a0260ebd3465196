import { expect, test } from 'vitest';

import { formatGoSelector } from './go-selector.ts';

const rows: [Parameters<typeof formatGoSelector>[0], string][] = [
  [undefined, 'nil'],
  [{}, '&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}'],
  [
    {
      matchLabels: { b: '2', a: '1' },
      matchExpressions: [
        { key: 'c', operator: 'In', values: ['x', 'y'] },
        { key: 'd', operator: 'Exists' },
      ],
    },
    '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{' +
      'LabelSelectorRequirement{Key:c,Operator:In,Values:[x y],},' +
      'LabelSelectorRequirement{Key:d,Operator:Exists,Values:[],},},}',
  ],
];
test.each(rows)('%j shows as in Go', (selector, shown) => expect(formatGoSelector(selector)).toBe(shown));
