import { describe, expect, test } from 'vitest';

import { formatTime, type PodDisruptionBudgetStatus } from '../../pkg/api/index.ts';
import { creationTime, disruptionBudget, frozen } from '../../test/support/builders.ts';
import { changedFailureStatus, changedStatus, type BudgetCounts } from './status.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const counts = (fields: Partial<BudgetCounts> = {}): BudgetCounts => {
  return { currentHealthy: 3, desiredHealthy: 2, expectedPods: 3, disruptedPods: {}, ...fields };
};
const allowed = {
  type: 'DisruptionAllowed',
  status: 'True',
  reason: 'SufficientPods',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: creationTime,
};
const current: PodDisruptionBudgetStatus = {
  currentHealthy: 3,
  desiredHealthy: 2,
  expectedPods: 3,
  disruptionsAllowed: 1,
  observedGeneration: 1,
  conditions: [allowed],
};
const budgetWith = (status: PodDisruptionBudgetStatus | undefined, generation = 1) =>
  frozen(disruptionBudget({ status, metadata: { generation } }));

describe('changedStatus', () => {
  const rows: { name: string; of: Partial<BudgetCounts>; allowed: number; condition: string }[] = [
    {
      name: 'allows as many disruptions as there are surplus healthy pods',
      of: {},
      allowed: 1,
      condition: 'True SufficientPods',
    },
    { name: 'allows none at the limit', of: { currentHealthy: 2 }, allowed: 0, condition: 'False InsufficientPods' },
    { name: 'is never negative', of: { currentHealthy: 0 }, allowed: 0, condition: 'False InsufficientPods' },
    {
      name: 'allows none while no pods are expected',
      of: { expectedPods: 0, desiredHealthy: 0, currentHealthy: 1 },
      allowed: 0,
      condition: 'False InsufficientPods',
    },
  ];
  for (const { name, of, allowed: wanted, condition } of rows) {
    test(name, () => {
      const status = changedStatus(budgetWith(undefined, 4), counts(of), nowMs);
      expect(status?.disruptionsAllowed).toBe(wanted);
      expect(status?.observedGeneration).toBe(4);
      const [only] = status?.conditions ?? [];
      expect(`${only?.status} ${only?.reason}`).toBe(condition);
      expect(only).toMatchObject({ lastTransitionTime: formatTime(nowMs), observedGeneration: 4, message: '' });
    });
  }

  test('is undefined if nothing has changed', () => {
    expect(changedStatus(budgetWith(current), counts(), nowMs)).toBeUndefined();
  });

  const changes: {
    name: string;
    status: PodDisruptionBudgetStatus;
    generation?: number;
    of?: Partial<BudgetCounts>;
  }[] = [
    { name: 'a new generation', status: current, generation: 2 },
    { name: 'an eviction', status: current, of: { disruptedPods: { a: creationTime } } },
    { name: 'an eviction that is over', status: { ...current, disruptedPods: { a: creationTime } } },
    { name: 'a missing condition', status: { ...current, conditions: [] } },
    { name: 'the wrong reason', status: { ...current, conditions: [{ ...allowed, reason: 'SyncFailed' }] } },
    { name: 'a wrong number', status: { ...current, disruptionsAllowed: 0 } },
  ];
  for (const { name, status, generation = 1, of = {} } of changes) {
    test(`changes with ${name}`, () =>
      expect(changedStatus(budgetWith(status, generation), counts(of), nowMs)).toBeDefined());
  }

  test('keeps the time of a condition whose status stays, and all other conditions', () => {
    const other = { ...allowed, type: 'Other' };
    const before = budgetWith({ ...current, conditions: [allowed, other] }, 2);
    const status = changedStatus(before, counts({ currentHealthy: 9 }), nowMs);
    expect(status?.conditions).toEqual([{ ...allowed, observedGeneration: 2 }, other]);
  });
});

describe('changedFailureStatus', () => {
  test('allows no disruption, keeps the counts, and says why', () => {
    const status = changedFailureStatus(budgetWith(current, 2), 'no scale', nowMs);
    expect(status).toEqual({
      ...current,
      disruptionsAllowed: 0,
      conditions: [
        {
          ...allowed,
          status: 'False',
          reason: 'SyncFailed',
          message: 'no scale',
          lastTransitionTime: formatTime(nowMs),
        },
      ],
    });
  });

  test('is undefined if the status is the same', () => {
    const failed = changedFailureStatus(budgetWith(undefined), 'no scale', nowMs);
    expect(changedFailureStatus(budgetWith(failed), 'no scale', nowMs)).toBeUndefined();
    expect(changedFailureStatus(budgetWith(failed), 'another reason', nowMs)).toBeDefined();
  });
});
