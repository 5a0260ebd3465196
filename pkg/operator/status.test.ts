import { describe, expect, test } from 'vitest';

import { planStatusPatch } from './status.ts';

const facts = { resourceVersion: '7', generation: 2, now: '2026-01-01T00:00:00Z' };
const before = '2025-01-01T00:00:00Z';
const ready = { type: 'Ready', status: 'True', reason: 'Done', message: '', lastTransitionTime: before };

describe('planStatusPatch', () => {
  const rows = [
    { name: 'writes the first status', status: undefined, change: { a: 1 }, expected: { status: { a: 1 } } },
    { name: 'writes nothing without a change', status: { a: 1, b: 2 }, change: { a: 1 }, expected: undefined },
    {
      name: 'writes changed fields only',
      status: { a: 1, b: 2 },
      change: { a: 1, b: 3 },
      expected: { status: { b: 3 } },
    },
    { name: 'removes with null', status: { a: 1 }, change: { a: null }, expected: { status: { a: null } } },
    { name: 'removes nothing twice', status: {}, change: { a: null }, expected: undefined },
    { name: 'merges nested objects', status: { m: { x: 1, y: 2 } }, change: { m: { x: 1 } }, expected: undefined },
    {
      name: 'removes a key of a map',
      status: { m: { x: 1, y: 2 } },
      change: { m: { x: null } },
      expected: { status: { m: { x: null } } },
    },
    { name: 'removes no key twice', status: { m: { y: 2 } }, change: { m: { x: null } }, expected: undefined },
    {
      name: 'removes a condition',
      status: { conditions: [ready, { ...ready, type: 'Other' }] },
      change: { conditions: [{ type: 'Ready', status: null }] },
      expected: { metadata: { resourceVersion: '7' }, status: { conditions: [{ ...ready, type: 'Other' }] } },
    },
    {
      name: 'removes no condition twice',
      status: { conditions: [ready] },
      change: { conditions: [{ type: 'Other', status: null }] },
      expected: undefined,
    },
    {
      name: 'removes all conditions',
      status: { conditions: [ready] },
      change: { conditions: null },
      expected: { metadata: { resourceVersion: '7' }, status: { conditions: null } },
    },
    {
      name: 'writes no condition whose observed generation the schema does not keep',
      status: { conditions: [ready] },
      change: { conditions: [{ type: 'Ready', status: 'True', reason: 'Done' }] },
      expected: undefined,
    },
    {
      name: 'writes no condition whose empty message the schema does not keep',
      status: { conditions: [{ ...ready, message: undefined }] },
      change: { conditions: [{ type: 'Ready', status: 'True', reason: 'Done' }] },
      expected: undefined,
    },
    {
      name: 'writes a condition that was observed at an older generation',
      status: { conditions: [{ ...ready, observedGeneration: 1 }] },
      change: { conditions: [{ type: 'Ready', status: 'True', reason: 'Done' }] },
      expected: { metadata: { resourceVersion: '7' }, status: { conditions: [{ ...ready, observedGeneration: 2 }] } },
    },
    { name: 'ignores undefined', status: { a: 1 }, change: { a: undefined }, expected: undefined },
    {
      name: 'keeps the transition time of a condition whose status stays, and other conditions',
      status: { conditions: [ready, { ...ready, type: 'Other' }] },
      change: { conditions: [{ type: 'Ready', status: 'True', reason: 'Still', message: 'm' }] },
      expected: {
        metadata: { resourceVersion: '7' },
        status: {
          conditions: [
            { ...ready, reason: 'Still', message: 'm', observedGeneration: 2 },
            { ...ready, type: 'Other' },
          ],
        },
      },
    },
    {
      name: 'sets the transition time of a condition whose status changes',
      status: { conditions: [ready] },
      change: { conditions: [{ type: 'Ready', status: 'False', reason: 'Lost' }] },
      expected: {
        metadata: { resourceVersion: '7' },
        status: {
          conditions: [
            { ...ready, status: 'False', reason: 'Lost', lastTransitionTime: facts.now, observedGeneration: 2 },
          ],
        },
      },
    },
    {
      name: 'writes no condition that is as wanted',
      status: { conditions: [{ ...ready, observedGeneration: 2 }] },
      change: { conditions: [{ type: 'Ready', status: 'True', reason: 'Done' }] },
      expected: undefined,
    },
  ];
  for (const { name, status, change, expected } of rows) {
    test(name, () => expect(planStatusPatch(status, change, facts)).toEqual(expected));
  }
});
