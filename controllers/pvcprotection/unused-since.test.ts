import { expect, test } from 'vitest';

import { frozen, persistentVolumeClaim } from '../../test/support/builders.ts';
import { planCondition } from './unused-since.ts';

test.each([
  { title: 'a used claim of which nothing is said', said: undefined, isUsed: true, expected: 'False' },
  { title: 'a used claim that is said to be unused', said: 'True', isUsed: true, expected: 'False' },
  { title: 'a used claim that is said to be used', said: 'False', isUsed: true, expected: undefined },
  { title: 'an unused claim of which nothing is said', said: undefined, isUsed: false, expected: 'True' },
  { title: 'an unused claim that is said to be used', said: 'False', isUsed: false, expected: 'True' },
  { title: 'an unused claim that is said to be unused', said: 'True', isUsed: false, expected: undefined },
])('$title', ({ said, isUsed, expected }) => {
  const conditions = [
    { type: 'Resizing', status: 'True' },
    ...(said === undefined ? [] : [{ type: 'Unused', status: said }]),
  ];
  const claim = frozen(persistentVolumeClaim({ status: { phase: 'Bound', conditions } }));
  expect(planCondition(claim, isUsed)?.status).toBe(expected);
});
