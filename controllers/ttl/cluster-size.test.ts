import { describe, expect, test } from 'vitest';

import { nextStep, ttlSecondsOf } from './cluster-size.ts';

describe('nextStep', () => {
  const rows = [
    { name: 'stays small up to its limit', step: 0, nodes: 100, ttl: 0 },
    { name: 'grows beyond it', step: 0, nodes: 101, ttl: 15 },
    { name: 'does not shrink within the overlap', step: 1, nodes: 90, ttl: 15 },
    { name: 'shrinks below the overlap', step: 1, nodes: 89, ttl: 0 },
    { name: 'takes several steps up at once', step: 0, nodes: 5000, ttl: 300 },
    { name: 'takes several steps down at once', step: 4, nodes: 10, ttl: 0 },
    { name: 'has no upper end', step: 4, nodes: 1_000_000, ttl: 300 },
    { name: 'keeps the third class at its edges', step: 2, nodes: 450, ttl: 30 },
    { name: 'leaves the fourth class below its edge', step: 3, nodes: 899, ttl: 30 },
  ];
  for (const { name, step, nodes, ttl } of rows)
    test(name, () => expect(ttlSecondsOf(nextStep(step, nodes))).toBe(ttl));
});
