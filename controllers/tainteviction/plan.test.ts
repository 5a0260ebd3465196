import { describe, expect, test } from 'vitest';

import { planEviction, type Eviction, type EvictionInput, type EvictionPlan } from './plan.ts';

const nowMs = 1000;
const waiting = (dueMs: number): Eviction => ({ kind: 'waiting', uid: 'u', dueMs });

describe('planEviction', () => {
  const rows: { name: string; tolerated: EvictionInput['tolerated']; eviction?: Eviction; plan: EvictionPlan }[] = [
    { name: 'leaves a pod that may stay', tolerated: undefined, plan: { kind: 'leave' } },
    {
      name: 'cancels when it may stay after all',
      tolerated: undefined,
      eviction: waiting(5000),
      plan: { kind: 'cancel' },
    },
    {
      name: 'evicts at once what is not tolerated',
      tolerated: 0,
      plan: { kind: 'evict', dueMs: 1000, instead: false },
    },
    { name: 'starts the time of what is tolerated', tolerated: 300_000, plan: { kind: 'wait', dueMs: 301_000 } },
    {
      name: 'does not prolong a time that runs',
      tolerated: 300_000,
      eviction: waiting(5000),
      plan: { kind: 'wait', dueMs: 5000 },
    },
    { name: 'does not shorten it either', tolerated: 10, eviction: waiting(5000), plan: { kind: 'wait', dueMs: 5000 } },
    {
      name: 'cuts it off for a taint that is not tolerated',
      tolerated: 0,
      eviction: waiting(5000),
      plan: { kind: 'evict', dueMs: 1000, instead: true },
    },
    {
      name: 'evicts when the time is up',
      tolerated: 300_000,
      eviction: waiting(1000),
      plan: { kind: 'evict', dueMs: 1000, instead: false },
    },
    {
      name: 'waits on when the node is gone',
      tolerated: 'node-gone',
      eviction: waiting(5000),
      plan: { kind: 'wait', dueMs: 5000 },
    },
    {
      name: 'evicts in time although the node is gone',
      tolerated: 'node-gone',
      eviction: waiting(900),
      plan: { kind: 'evict', dueMs: 900, instead: false },
    },
    { name: 'begins nothing without a node', tolerated: 'node-gone', plan: { kind: 'leave' } },
    {
      name: 'tries again after a failure',
      tolerated: 300_000,
      eviction: { kind: 'evicting', uid: 'u', dueMs: 900 },
      plan: { kind: 'evict', dueMs: 900, instead: false },
    },
    {
      name: 'gives up trying when the pod may stay',
      tolerated: undefined,
      eviction: { kind: 'evicting', uid: 'u', dueMs: 900 },
      plan: { kind: 'cancel' },
    },
    { name: 'evicts nobody twice', tolerated: 0, eviction: { kind: 'evicted', uid: 'u' }, plan: { kind: 'leave' } },
  ];
  for (const { name, tolerated, eviction, plan } of rows)
    test(name, () => expect(planEviction({ tolerated, eviction, nowMs })).toEqual(plan));
});
