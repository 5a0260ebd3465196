import { describe, expect, test } from 'vitest';

import { PodDisruptionBudgets, Pods, ReplicaSets, type Pod } from '../../pkg/api/index.ts';
import {
  type Described,
  disruptionBudget,
  frozen,
  pod,
  replicaSet,
  runningStatus,
} from '../../test/support/builders.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { isBudgetChange, selectPods, warnOfSeveralBudgets } from './handlers.ts';

const labels = { app: 'web' };
const ready = (described: Described<Pod> = {}): Pod =>
  pod({ name: 'a', labels, status: runningStatus(), ...described });

describe('isBudgetChange', () => {
  const rows: { name: string; after: Pod; expected: boolean }[] = [
    { name: 'readiness', after: ready({ status: runningStatus({ ready: false }) }), expected: true },
    { name: 'deletion', after: ready({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), expected: true },
    { name: 'a new controller', after: ready({ owner: { kind: ReplicaSets, object: replicaSet() } }), expected: true },
    { name: 'an address', after: ready({ status: runningStatus({ podIP: '10.0.0.9' }) }), expected: false },
    { name: 'an annotation', after: ready({ annotations: { a: 'b' } }), expected: false },
  ];
  for (const { name, after, expected } of rows)
    test(`${name}: ${expected}`, () => expect(isBudgetChange(frozen(ready()), frozen(after))).toBe(expected));
});

describe('the budgets of a pod', () => {
  const selecting = (name: string, selector: object | undefined) =>
    disruptionBudget({ name, spec: { minAvailable: 1, selector } });
  const budgets = new FakeInformer(PodDisruptionBudgets, [
    selecting('by-label', { matchLabels: labels }),
    selecting('by-expression', { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] }),
    selecting('everything', {}),
    selecting('nothing', undefined),
    selecting('others', { matchLabels: { app: 'db' } }),
    selecting('invalid', { matchExpressions: [{ key: 'app', operator: 'Like' }] }),
    disruptionBudget({ name: 'elsewhere', namespace: 'other', spec: { selector: {} } }),
  ]);
  const pods = new FakeInformer(Pods, []);
  const enqueued: string[] = [];
  const selected = selectPods(budgets, pods, { add: (key) => void enqueued.push(key) });

  test('are those whose selector matches, in its namespace', () => {
    const found = selected.ownersOf(frozen(ready())).toSorted();
    expect(found).toEqual(['default/by-expression', 'default/by-label', 'default/everything']);
  });

  test('are warned of where there are several', () => {
    const warnings: string[] = [];
    const recorder = {
      event: (_kind: unknown, _about: unknown, { message }: { message: string }) => void warnings.push(message),
    };
    const handler = warnOfSeveralBudgets((one) => selected.ownersOf(one), recorder);
    const one = frozen(ready());
    handler.added?.(one, false);
    handler.updated?.(one, one); // a resync
    expect(warnings).toEqual([
      'Pod "default"/"a" matches multiple PodDisruptionBudgets.  Chose "by-expression" arbitrarily.',
    ]);
  });
});
