import { describe, expect, test } from 'vitest';

import type { Eviction } from '../../pkg/evictions/index.ts';
import { planEviction, type EvictionInput, type EvictionPlan } from './plan.ts';

const nowMs = 1000;
const waiting = (dueMs: number): Eviction => ({ kind: 'waiting', uid: 'u', dueMs });

describe('planEviction', () => {
  const rows: { name: string; tolerated: EvictionInput['tolerated']; eviction?: Eviction; plan: EvictionPlan }[] = [
    { name: 'leaves a pod that tolerates the taints forever', tolerated: undefined, plan: { kind: 'leave' } },
    {
      name: 'cancels when a waiting pod tolerates the taints forever',
      tolerated: undefined,
      eviction: waiting(5000),
      plan: { kind: 'cancel' },
    },
    {
      name: 'evicts at once without a toleration',
      tolerated: 0,
      plan: { kind: 'evict', dueMs: 1000, cancelsWait: false },
    },
    { name: 'waits for the tolerated time', tolerated: 300_000, plan: { kind: 'wait', dueMs: 301_000 } },
    {
      name: 'does not prolong a wait',
      tolerated: 300_000,
      eviction: waiting(5000),
      plan: { kind: 'wait', dueMs: 5000 },
    },
    { name: 'does not shorten a wait', tolerated: 10, eviction: waiting(5000), plan: { kind: 'wait', dueMs: 5000 } },
    {
      name: 'ends a wait for a taint that is not tolerated',
      tolerated: 0,
      eviction: waiting(5000),
      plan: { kind: 'evict', dueMs: 1000, cancelsWait: true },
    },
    {
      name: 'evicts when the time is up',
      tolerated: 300_000,
      eviction: waiting(1000),
      plan: { kind: 'evict', dueMs: 1000, cancelsWait: false },
    },
    {
      name: 'keeps waiting when the node is gone',
      tolerated: 'node-gone',
      eviction: waiting(5000),
      plan: { kind: 'wait', dueMs: 5000 },
    },
    {
      name: 'evicts after the wait although the node is gone',
      tolerated: 'node-gone',
      eviction: waiting(900),
      plan: { kind: 'evict', dueMs: 900, cancelsWait: false },
    },
    { name: 'starts no eviction without a node', tolerated: 'node-gone', plan: { kind: 'leave' } },
    {
      name: 'retries after an error',
      tolerated: 300_000,
      eviction: { kind: 'evicting', uid: 'u', dueMs: 900 },
      plan: { kind: 'evict', dueMs: 900, cancelsWait: false },
    },
    {
      name: 'cancels a retry when the pod tolerates the taints forever',
      tolerated: undefined,
      eviction: { kind: 'evicting', uid: 'u', dueMs: 900 },
      plan: { kind: 'cancel' },
    },
    {
      name: 'does not evict a pod twice',
      tolerated: 0,
      eviction: { kind: 'evicted', uid: 'u' },
      plan: { kind: 'leave' },
    },
  ];
  for (const { name, tolerated, eviction, plan } of rows)
    test(name, () => expect(planEviction({ tolerated, eviction, nowMs })).toEqual(plan));
});
