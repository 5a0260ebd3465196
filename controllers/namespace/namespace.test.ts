import { describe, expect, test } from 'vitest';

import { ConfigMaps, Pods, Secrets } from '../../pkg/api/index.ts';
import { configMap, pod } from '../../test/support/builders.ts';
import { computeConditions, type DeletionOutcome } from './conditions.ts';
import { computeRemaining, nextCheckMs, type Remaining } from './remaining.ts';

describe('computeRemaining', () => {
  const terminating = (grace: number, finalizers: string[] = []): ReturnType<typeof pod> =>
    pod({ metadata: { deletionGracePeriodSeconds: grace, finalizers } });
  const rows = [
    { name: 'is undefined without remaining objects', items: [], elapsed: 0, expected: undefined },
    {
      name: 'estimates the longest grace period of pods',
      items: [terminating(5), terminating(30)],
      elapsed: 10,
      expected: 30,
    },
    { name: 'has no estimate after the grace period', items: [terminating(30)], elapsed: 30, expected: 'unknown' },
    { name: 'estimates 15 s for finalizers', items: [terminating(0, ['a'])], elapsed: 99, expected: 15 },
    { name: 'prefers the grace period to finalizers', items: [terminating(60, ['a'])], elapsed: 1, expected: 60 },
    { name: 'has no estimate without a reason', items: [configMap()], elapsed: 0, expected: 'unknown' },
  ];
  for (const { name, items, elapsed, expected } of rows) {
    test(name, () => {
      const remaining = computeRemaining(Pods, items, elapsed);
      const estimate = remaining === undefined ? undefined : (remaining.estimateSeconds ?? 'unknown');
      expect(estimate).toBe(expected);
    });
  }
});

describe('nextCheckMs', () => {
  const left = (estimateSeconds: number): Remaining => ({
    kind: Pods,
    count: 1,
    finalizers: new Map(),
    estimateSeconds,
  });
  const rows = [
    { name: 'is short at first', remaining: [left(30)], checks: 0, expected: 500 },
    { name: 'then doubles', remaining: [left(30)], checks: 3, expected: 4000 },
    { name: 'is at most half the estimate', remaining: [left(30), left(15)], checks: 9, expected: 16_000 },
  ];
  for (const { name, remaining, checks, expected } of rows) {
    test(name, () => expect(nextCheckMs(remaining, checks)).toBe(expected));
  }
});

describe('computeConditions', () => {
  const nowMs = Date.parse('2026-01-01T00:01:00Z');
  const fine: DeletionOutcome = {
    undiscovered: new Map(),
    unparsable: [],
    failures: [],
    remaining: [],
    waitsForPods: false,
  };
  const held: Remaining = {
    kind: ConfigMaps,
    count: 2,
    finalizers: new Map([['example.com/hold', 2]]),
    estimateSeconds: 15,
  };
  const plain: Remaining = { kind: Secrets, count: 1, finalizers: new Map(), estimateSeconds: 1 };

  test('sets all five conditions on success', () => {
    const conditions = computeConditions([], fine, nowMs);
    expect(conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
      'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered',
      'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions',
      'NamespaceDeletionContentFailure False ContentDeleted',
      'NamespaceContentRemaining False ContentRemoved',
      'NamespaceFinalizersRemaining False ContentHasNoFinalizers',
    ]);
  });

  const rows = [
    {
      name: 'discovery errors',
      outcome: { ...fine, undiscovered: new Map([['metrics.k8s.io/v1', 'the server is down']]) },
      expected:
        'DiscoveryFailed: Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1: the server is down',
    },
    {
      name: 'parse errors',
      outcome: { ...fine, unparsable: ['a/b/c'] },
      expected: 'GroupVersionParsingFailed: unexpected GroupVersion string: a/b/c',
    },
    {
      name: 'deletion errors',
      outcome: { ...fine, failures: ['b is broken', 'a is broken'] },
      expected: 'ContentDeletionFailed: Failed to delete all resource types, 2 remaining: a is broken, b is broken',
    },
    {
      name: 'remaining objects',
      outcome: { ...fine, remaining: [plain] },
      expected: 'SomeResourcesRemain: Some resources are remaining: secrets. has 1 resource instances',
    },
    {
      name: 'remaining finalizers',
      outcome: { ...fine, remaining: [held, held] },
      expected:
        'SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 4 resource instances',
    },
  ];
  for (const { name, outcome, expected } of rows) {
    test(`reports ${name}`, () => {
      const troubles = computeConditions([], outcome, nowMs).filter(({ status }) => status === 'True');
      expect(troubles.map(({ reason, message }) => `${reason}: ${message}`)).toContain(expected);
    });
  }

  test('does not report remaining objects before all pods are gone', () => {
    const conditions = computeConditions([], { ...fine, remaining: [held], waitsForPods: true }, nowMs);
    expect(conditions.every(({ status }) => status === 'False')).toBe(true);
  });

  test('keeps the transition time of an unchanged status, and other conditions', () => {
    const before = computeConditions([{ type: 'Other', status: 'True' }], fine, nowMs);
    const after = computeConditions(before, { ...fine, remaining: [plain] }, nowMs + 5000);
    expect(after.map(({ type }) => type)).toEqual(before.map(({ type }) => type));
    const times = new Map(after.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
    expect(times.get('NamespaceDeletionContentFailure')).toBe('2026-01-01T00:01:00Z');
    expect(times.get('NamespaceContentRemaining')).toBe('2026-01-01T00:01:05Z');
  });
});
