import { describe, expect, test } from 'vitest';

import type { Node, Taint } from '../../pkg/api/index.ts';
import { creationTime, frozen, node } from '../../test/support/builders.ts';
import {
  planConditionTaints,
  planEvictionStep,
  withEvictionTaint,
  withoutEvictionTaints,
  type EvictionStep,
} from './node-taints.ts';

const wallMs = Date.parse(creationTime);
const key = (name: string): string => `node.kubernetes.io/${name}`;
const noSchedule = (name: string): Taint => ({ key: key(name), effect: 'NoSchedule', timeAdded: creationTime });
const noExecute = (name: string): Taint => ({ key: key(name), effect: 'NoExecute', timeAdded: creationTime });
const own: Taint = { key: 'example.com/gpu', value: 'yes', effect: 'NoSchedule' };

function nodeWith(taints: Taint[], conditions: Record<string, string>, unschedulable = false): Node {
  return node({
    spec: { taints, ...(unschedulable ? { unschedulable } : {}) },
    status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
  });
}

describe('planConditionTaints', () => {
  const rows: { name: string; node: Node; expected: Taint[] | undefined }[] = [
    { name: 'has nothing to say of a healthy node', node: nodeWith([], { Ready: 'True' }), expected: undefined },
    {
      name: 'takes off what admission put on a new node',
      node: nodeWith([noSchedule('not-ready')], { Ready: 'True' }),
      expected: [],
    },
    {
      name: 'says everything that is wrong, after the taints of others',
      node: nodeWith([own], {
        MemoryPressure: 'True',
        DiskPressure: 'True',
        PIDPressure: 'True',
        NetworkUnavailable: 'True',
        Ready: 'False',
      }),
      expected: [
        own,
        noSchedule('memory-pressure'),
        noSchedule('disk-pressure'),
        noSchedule('pid-pressure'),
        noSchedule('network-unavailable'),
        noSchedule('not-ready'),
      ],
    },
    {
      name: 'exchanges one reason for another and leaves NoExecute taints alone',
      node: nodeWith([noSchedule('not-ready'), noExecute('not-ready'), own], { Ready: 'Unknown' }),
      expected: [noExecute('not-ready'), own, noSchedule('unreachable')],
    },
    {
      name: 'says that a node is cordoned',
      node: nodeWith([], { Ready: 'True' }, true),
      expected: [noSchedule('unschedulable')],
    },
    {
      name: 'takes that back',
      node: nodeWith([noSchedule('unschedulable'), own], { Ready: 'True' }),
      expected: [own],
    },
    {
      name: 'does not touch what is right, whoever added it and with whatever value',
      node: nodeWith([{ key: key('unreachable'), value: 'x', effect: 'NoSchedule' }], { Ready: 'Unknown' }),
      expected: undefined,
    },
    {
      name: 'keeps an unknown pressure out of it',
      node: nodeWith([noSchedule('unreachable')], { Ready: 'Unknown', MemoryPressure: 'Unknown' }),
      expected: undefined,
    },
    { name: 'copes with a node that has said nothing', node: node({ status: {} }), expected: undefined },
  ];
  for (const { name, node: given, expected } of rows)
    test(name, () => expect(planConditionTaints(frozen(given), wallMs)).toEqual(expected));
});

describe('planEvictionStep', () => {
  const usual = { isNew: false, isAllDark: false };
  const unreachable = [noExecute('unreachable')];
  const notReady = [noExecute('not-ready')];
  const rows: { name: string; taints: Taint[]; ready?: string; as?: object; step: EvictionStep }[] = [
    { name: 'leaves a healthy node alone', taints: [own], ready: 'True', step: 'none' },
    { name: 'clears one that is back', taints: unreachable, ready: 'True', step: 'clear' },
    { name: 'queues one that fell silent', taints: [], ready: 'Unknown', step: 'queue' },
    { name: 'queues one that says it is not ready', taints: [], ready: 'False', step: 'queue' },
    { name: 'leaves a tainted one alone', taints: unreachable, ready: 'Unknown', step: 'none' },
    { name: 'exchanges when it speaks again, but of failure', taints: unreachable, ready: 'False', step: 'exchange' },
    { name: 'exchanges when it falls silent after all', taints: notReady, ready: 'Unknown', step: 'exchange' },
    { name: 'exchanges when it has both', taints: [...notReady, ...unreachable], ready: 'False', step: 'exchange' },
    {
      name: 'clears at first sight, and queues again',
      taints: unreachable,
      ready: 'Unknown',
      as: { isNew: true },
      step: 'clear-and-queue',
    },
    { name: 'clears at first sight what has said nothing', taints: unreachable, as: { isNew: true }, step: 'clear' },
    { name: 'queues at first sight', taints: [], ready: 'False', as: { isNew: true }, step: 'queue' },
    { name: 'does nothing to a node that has yet to say anything', taints: [], step: 'none' },
    { name: 'clears when all is dark', taints: unreachable, ready: 'Unknown', as: { isAllDark: true }, step: 'clear' },
    { name: 'queues nobody when all is dark', taints: [], ready: 'Unknown', as: { isAllDark: true }, step: 'none' },
    { name: 'minds NoExecute only', taints: [noSchedule('unreachable')], ready: 'Unknown', step: 'queue' },
  ];
  for (const { name, taints, ready, as, step } of rows) {
    test(name, () => {
      const given = frozen(node({ spec: { taints } }));
      expect(planEvictionStep(given, { ready, ...usual, ...as })).toBe(step);
    });
  }
});

describe('eviction taints', () => {
  test('come off alone', () => {
    const both = nodeWith([noSchedule('unreachable'), noExecute('unreachable'), noExecute('not-ready'), own], {});
    expect(withoutEvictionTaints(frozen(both))).toEqual([noSchedule('unreachable'), own]);
    expect(withoutEvictionTaints(frozen(nodeWith([own], {})))).toBeUndefined();
  });

  const rows = [
    { name: 'follow the Ready condition', taints: [own], ready: 'False', expected: [own, noExecute('not-ready')] },
    {
      name: 'replace each other',
      taints: [noExecute('not-ready'), own],
      ready: 'Unknown',
      expected: [own, noExecute('unreachable')],
    },
    { name: 'are added once', taints: [noExecute('unreachable')], ready: 'Unknown', expected: undefined },
    { name: 'are not added to a node that is ready by now', taints: [], ready: 'True', expected: undefined },
  ];
  for (const { name, taints, ready, expected } of rows)
    test(name, () => expect(withEvictionTaint(frozen(nodeWith(taints, { Ready: ready })), wallMs)).toEqual(expected));
});
