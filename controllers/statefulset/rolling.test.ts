import { describe, expect, test } from 'vitest';

import { frozen, statefulSet } from '../../test/support/builders.ts';
import { maxUnavailableOf } from './rolling.ts';

describe('maxUnavailableOf', () => {
  const rows = [
    { name: 'one if it is not set', expected: 1 },
    { name: 'the number', maxUnavailable: 3, expected: 3 },
    { name: 'a percentage, rounded down', maxUnavailable: '25%', expected: 2 },
    { name: 'at least one', maxUnavailable: '1%', expected: 1 },
  ];
  for (const { name, maxUnavailable, expected } of rows) {
    test(name, () => {
      const rollingUpdate = { partition: 0, ...(maxUnavailable !== undefined && { maxUnavailable }) };
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
      expect(maxUnavailableOf(frozen(statefulSet({ spec: { replicas: 10, updateStrategy } })))).toBe(expected);
    });
  }
});
