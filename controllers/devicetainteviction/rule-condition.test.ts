import { describe, expect, test } from 'vitest';

import { frozen } from '../../test/support/builders.ts';
import { taintRule } from '../../test/support/claim-builders.ts';
import { changedCondition, statusWaitMs, type RuleCounts } from './rule-condition.ts';

const nowMs = Date.parse('2026-01-01T00:00:20Z');
const zero: RuleCounts = { pods: 0, namespaces: 0, published: 0, allocated: 0, evicted: 0 };
const wouldEvict = (pods: string, where: string): string =>
  `${pods} would be evicted in ${where} if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.`;

describe('the condition of a rule', () => {
  const rows = [
    { name: 'that evicts nothing', effect: 'NoExecute', counts: {}, expected: ['False', 'NotStarted', ''] },
    {
      name: 'that evicts one pod',
      effect: 'NoExecute',
      counts: { pods: 1, namespaces: 1 },
      expected: ['True', 'PodsPendingEviction', '1 pod needs to be evicted in 1 namespace.'],
    },
    {
      name: 'that evicts some pods, and has evicted others',
      effect: 'NoExecute',
      counts: { pods: 3, namespaces: 2, evicted: 2 },
      expected: [
        'True',
        'PodsPendingEviction',
        '3 pods need to be evicted in 2 different namespaces. 2 pods evicted since starting the controller.',
      ],
    },
    {
      name: 'that has evicted all',
      effect: 'NoExecute',
      counts: { evicted: 1 },
      expected: ['False', 'Completed', '1 pod evicted since starting the controller.'],
    },
    {
      name: 'without effect',
      effect: 'None',
      counts: { pods: 1, namespaces: 1, published: 1, allocated: 1 },
      expected: [
        'False',
        'NoEffect',
        `1 published device selected. 1 allocated device selected. ${wouldEvict('1 pod', '1 namespace')}`,
      ],
    },
    {
      name: 'without effect on anything',
      effect: 'None',
      counts: {},
      expected: [
        'False',
        'NoEffect',
        `0 published devices selected. 0 allocated devices selected. ${wouldEvict('0 pods', '0 different namespaces')}`,
      ],
    },
    {
      name: 'that keeps pods away',
      effect: 'NoSchedule',
      counts: {},
      expected: ['False', 'OtherEffect', 'Eviction only happens for the NoExecute effect.'],
    },
  ];
  for (const { name, effect, counts, expected } of rows) {
    test(name, () => {
      const rule = frozen(taintRule({ effect }));
      const [status, reason, message] = expected;
      const type = 'EvictionInProgress';
      const lastTransitionTime = '2026-01-01T00:00:20Z';
      const condition = changedCondition(rule, { ...zero, ...counts }, nowMs);
      expect(condition).toEqual({ type, status, reason, message, lastTransitionTime, observedGeneration: 1 });
      const written = frozen(taintRule({ effect, status: { conditions: condition === undefined ? [] : [condition] } }));
      expect(changedCondition(written, { ...zero, ...counts }, nowMs + 60_000)).toBeUndefined();
    });
  }
});

describe('a condition is written again', () => {
  const rows = [
    { name: 'at once if there is none', age: undefined, generation: 1, expected: 0 },
    { name: 'ten seconds after the last time', age: 4, generation: 1, expected: 6000 },
    { name: 'later than that at once', age: 20, generation: 1, expected: 0 },
    { name: 'at once after a change of the rule', age: 4, generation: 2, expected: 0 },
  ];
  for (const { name, age, generation, expected } of rows) {
    test(name, () => {
      const lastTransitionTime = new Date(nowMs - (age ?? 0) * 1000).toISOString();
      const type = 'EvictionInProgress';
      const present = { type, status: 'False', reason: 'x', message: '', observedGeneration: 1, lastTransitionTime };
      const conditions = age === undefined ? [] : [present];
      expect(statusWaitMs(frozen(taintRule({ metadata: { generation }, status: { conditions } })), nowMs)).toBe(
        expected,
      );
    });
  }
});
