import { describe, expect, test } from 'vitest';

import { indexListOf } from './index-list.ts';
import { describeSuccess } from './success-policy.ts';

const rows = [
  { name: 'is not met without a policy', rules: undefined, succeeded: [0, 1, 2], met: undefined },
  { name: 'is not met without succeeded indexes', rules: [{ succeededCount: 0 }], succeeded: [], met: undefined },
  { name: 'is met by enough indexes', rules: [{ succeededCount: 2 }], succeeded: [0, 3], met: 0 },
  { name: 'is not met by too few indexes', rules: [{ succeededCount: 2 }], succeeded: [3], met: undefined },
  { name: 'is met by all listed indexes', rules: [{ succeededIndexes: '0,2-3' }], succeeded: [0, 2, 3, 4], met: 0 },
  {
    name: 'is not met while a listed index is missing',
    rules: [{ succeededIndexes: '0,2-3' }],
    succeeded: [0, 2],
    met: undefined,
  },
  {
    name: 'is met by enough of the listed indexes',
    rules: [{ succeededIndexes: '0-3', succeededCount: 2 }],
    succeeded: [1, 3],
    met: 0,
  },
  {
    name: 'does not count other indexes',
    rules: [{ succeededIndexes: '0-3', succeededCount: 2 }],
    succeeded: [1, 7, 8],
    met: undefined,
  },
  {
    name: 'names the first rule that is met',
    rules: [{ succeededIndexes: '9' }, { succeededCount: 1 }, { succeededIndexes: '1' }],
    succeeded: [1],
    met: 1,
  },
  {
    name: 'is not met by an invalid rule',
    rules: [{ succeededIndexes: 'all' }],
    succeeded: [1],
    met: undefined,
  },
];

describe('a success policy', () => {
  for (const { name, rules, succeeded, met } of rows) {
    test(name, () => {
      const policy = rules === undefined ? undefined : { rules };
      const expected = met === undefined ? undefined : `Matched rules at index ${String(met)}`;
      expect(describeSuccess(policy, indexListOf(succeeded), 10)).toBe(expected);
    });
  }
});
