import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { settle } from '../../test/support/fake-clock.ts';
import { currentTrace, decided, runTraced, type Trace } from './trace.ts';

function createTrace() {
  const plans: unknown[] = [];
  const trace: Trace = { read: () => undefined, decided: (plan) => void plans.push(plan) };
  return { trace, plans };
}

describe('a trace', () => {
  test('follows a reconcile through its awaits, timers and callbacks', async () => {
    const { trace, plans } = createTrace();
    await runTraced(trace, async () => {
      decided('at once');
      await Promise.resolve();
      decided('after an await');
      await settle();
      await sleep(1);
      decided('after a timer');
      await Promise.all([1, 2].map(async (index) => decided(`in parallel ${index}`)));
    });
    expect(plans).toEqual(['at once', 'after an await', 'after a timer', 'in parallel 1', 'in parallel 2']);
  });

  test('does not mix with that of another reconcile', async () => {
    const [first, second] = [createTrace(), createTrace()];
    const reconcile = async (name: string): Promise<void> => {
      for (let step = 0; step < 3; step++) {
        await settle();
        decided(`${name} ${step}`);
      }
    };
    await Promise.all([
      runTraced(first.trace, () => reconcile('first')),
      runTraced(second.trace, () => reconcile('second')),
      reconcile('untraced'),
    ]);
    expect(first.plans).toEqual(['first 0', 'first 1', 'first 2']);
    expect(second.plans).toEqual(['second 0', 'second 1', 'second 2']);
  });

  test('ends with its reconcile, also if that fails', async () => {
    const { trace } = createTrace();
    const running = runTraced(trace, async () => {
      await settle();
      throw new Error('failed');
    });
    expect(currentTrace()).toBeUndefined();
    await expect(running).rejects.toThrow('failed');
    expect(currentTrace()).toBeUndefined();
  });
});

test('a plan is returned as it is, with and without a trace', () => {
  const plan = { actions: [] };
  expect(decided(plan)).toBe(plan);
  const { trace, plans } = createTrace();
  expect(runTraced(trace, () => decided(plan))).toBe(plan);
  expect(plans).toEqual([plan]);
});
