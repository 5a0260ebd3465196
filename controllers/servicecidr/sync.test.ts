import { describe, expect, test } from 'vitest';

import { ServiceCIDRs, type ServiceCIDR } from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { finalizer, planSync, type Plan } from './sync.ts';

const nowMs = Date.parse('2026-01-01T00:00:30Z');
const deleted = (seconds: number): string => new Date(nowMs - seconds * 1000).toISOString();
const ready = { type: 'Ready', status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' };
const held = { finalizers: [finalizer] };

function range(metadata: object, conditions: object[] | null = []): ServiceCIDR {
  const base = build<ServiceCIDR>(ServiceCIDRs, { name: 'a' }, {});
  return { ...base, metadata: { ...base.metadata, ...metadata }, status: { conditions } } as ServiceCIDR;
}

describe('planSync', () => {
  const rows: { name: string; range: ServiceCIDR; isDeletable?: boolean; expected: object }[] = [
    {
      name: 'a new range gets its finalizer and is ready',
      range: range({}),
      expected: { finalizer: 'add', condition: ready },
    },
    { name: 'null conditions count as absent', range: range(held, null), expected: { condition: ready } },
    { name: 'a ready range needs nothing', range: range(held, [ready]), expected: {} },
    {
      name: 'a condition of another writer is replaced',
      range: range(held, [{ ...ready, reason: 'Mine' }]),
      expected: { condition: ready },
    },
    {
      name: 'a deleted range with addresses is blocked',
      range: range({ ...held, deletionTimestamp: deleted(60) }, [ready]),
      expected: { condition: { type: 'Ready', status: 'False', reason: 'Terminating' } },
    },
    {
      name: 'a deleted range waits until all API servers have observed it',
      range: range({ ...held, deletionTimestamp: deleted(4) }, [ready]),
      isDeletable: true,
      expected: { result: { requeueAfterMs: 6000 } },
    },
    {
      name: 'a deleted range is removed after that',
      range: range({ ...held, deletionTimestamp: deleted(10) }, [ready]),
      isDeletable: true,
      expected: { finalizer: 'remove' },
    },
    {
      name: 'a range with other finalizers is left to them',
      range: range({ finalizers: ['example.com/other'], deletionTimestamp: deleted(60) }),
      isDeletable: true,
      expected: {},
    },
  ];
  for (const { name, range: given, isDeletable = false, expected } of rows) {
    test(name, () => {
      const plan: Plan = planSync(frozen(given), { isDeletable, nowMs });
      const expectedPlan = { finalizer: undefined, condition: undefined, result: {}, ...expected };
      expect({ finalizer: undefined, condition: undefined, ...plan }).toMatchObject(expectedPlan);
    });
  }
});
