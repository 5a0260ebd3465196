import { describe, expect, test } from 'vitest';

import { validateConditions } from './conditions.ts';

const good = {
  type: 'DisruptionAllowed',
  status: 'True',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  reason: 'SufficientPods',
  message: '',
};

describe('conditions', () => {
  const rows: { name: string; conditions: (typeof good)[]; refused: string[] }[] = [
    { name: 'as controllers write them', conditions: [good, { ...good, type: 'example.com/Other' }], refused: [] },
    { name: 'of the same type', conditions: [good, good], refused: ['Duplicate c[1].type'] },
    { name: 'of a type with a space', conditions: [{ ...good, type: 'a b' }], refused: ['Invalid c[0].type'] },
    { name: 'of an unknown status', conditions: [{ ...good, status: 'yes' }], refused: ['NotSupported c[0].status'] },
    {
      name: 'without time and reason',
      conditions: [{ ...good, lastTransitionTime: '', reason: '' }],
      refused: ['Required c[0].lastTransitionTime', 'Required c[0].reason'],
    },
    {
      name: 'with a reason that contains spaces',
      conditions: [{ ...good, reason: 'too few' }],
      refused: ['Invalid c[0].reason'],
    },
    {
      name: 'that are too long',
      conditions: [{ ...good, reason: 'r'.repeat(1025), message: 'm'.repeat(32_769) }],
      refused: ['TooLong c[0].reason', 'TooLong c[0].message'],
    },
  ];
  for (const { name, conditions, refused } of rows) {
    test(name, () =>
      expect(validateConditions(conditions, 'c').map(({ type, field }) => `${type} ${field}`)).toEqual(refused),
    );
  }
});
