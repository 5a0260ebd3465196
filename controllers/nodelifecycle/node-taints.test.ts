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
    { name: 'adds no taint to a healthy node', node: nodeWith([], { Ready: 'True' }), expected: undefined },
    {
      name: 'removes the taint that admission added to a new node',
      node: nodeWith([noSchedule('not-ready')], { Ready: 'True' }),
      expected: [],
    },
    {
      name: 'adds a taint per condition after the taints of others',
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
      name: 'replaces not-ready by unreachable and keeps NoExecute taints',
      node: nodeWith([noSchedule('not-ready'), noExecute('not-ready'), own], { Ready: 'Unknown' }),
      expected: [noExecute('not-ready'), own, noSchedule('unreachable')],
    },
    {
      name: 'taints a cordoned node',
      node: nodeWith([], { Ready: 'True' }, true),
      expected: [noSchedule('unschedulable')],
    },
    {
      name: 'removes the taint of an uncordoned node',
      node: nodeWith([noSchedule('unschedulable'), own], { Ready: 'True' }),
      expected: [own],
    },
    {
      name: 'keeps a matching taint with another value',
      node: nodeWith([{ key: key('unreachable'), value: 'x', effect: 'NoSchedule' }], { Ready: 'Unknown' }),
      expected: undefined,
    },
    {
      name: 'adds no taint for a pressure condition that is Unknown',
      node: nodeWith([noSchedule('unreachable')], { Ready: 'Unknown', MemoryPressure: 'Unknown' }),
      expected: undefined,
    },
    { name: 'adds no taint to a node without conditions', node: node({ status: {} }), expected: undefined },
  ];
  for (const { name, node: given, expected } of rows)
    test(name, () => expect(planConditionTaints(frozen(given), wallMs)).toEqual(expected));
});

describe('planEvictionStep', () => {
  const usual = { isNew: false, isFullDisruption: false };
  const unreachable = [noExecute('unreachable')];
  const notReady = [noExecute('not-ready')];
  const rows: { name: string; taints: Taint[]; ready?: string; as?: object; step: EvictionStep }[] = [
    { name: 'does nothing to a ready node without our taints', taints: [own], ready: 'True', step: 'none' },
    { name: 'clears a node that is ready again', taints: unreachable, ready: 'True', step: 'clear' },
    { name: 'queues an unreachable node', taints: [], ready: 'Unknown', step: 'queue' },
    { name: 'queues a node that is not ready', taints: [], ready: 'False', step: 'queue' },
    { name: 'does nothing to a node with the right taint', taints: unreachable, ready: 'Unknown', step: 'none' },
    { name: 'exchanges unreachable for not-ready', taints: unreachable, ready: 'False', step: 'exchange' },
    { name: 'exchanges not-ready for unreachable', taints: notReady, ready: 'Unknown', step: 'exchange' },
    {
      name: 'exchanges if the node has both taints',
      taints: [...notReady, ...unreachable],
      ready: 'False',
      step: 'exchange',
    },
    {
      name: 'clears a new node and queues it',
      taints: unreachable,
      ready: 'Unknown',
      as: { isNew: true },
      step: 'clear-and-queue',
    },
    { name: 'clears a new node without a Ready condition', taints: unreachable, as: { isNew: true }, step: 'clear' },
    { name: 'queues a new node', taints: [], ready: 'False', as: { isNew: true }, step: 'queue' },
    { name: 'does nothing to a node without a Ready condition', taints: [], step: 'none' },
    {
      name: 'clears during a full disruption',
      taints: unreachable,
      ready: 'Unknown',
      as: { isFullDisruption: true },
      step: 'clear',
    },
    {
      name: 'queues no node during a full disruption',
      taints: [],
      ready: 'Unknown',
      as: { isFullDisruption: true },
      step: 'none',
    },
    { name: 'ignores NoSchedule taints', taints: [noSchedule('unreachable')], ready: 'Unknown', step: 'queue' },
  ];
  for (const { name, taints, ready, as, step } of rows) {
    test(name, () => {
      const given = frozen(node({ spec: { taints } }));
      expect(planEvictionStep(given, { ready, ...usual, ...as })).toBe(step);
    });
  }
});

describe('eviction taints', () => {
  test('are removed without other taints', () => {
    const both = nodeWith([noSchedule('unreachable'), noExecute('unreachable'), noExecute('not-ready'), own], {});
    expect(withoutEvictionTaints(frozen(both))).toEqual([noSchedule('unreachable'), own]);
    expect(withoutEvictionTaints(frozen(nodeWith([own], {})))).toBeUndefined();
  });

  const rows = [
    { name: 'match the Ready condition', taints: [own], ready: 'False', expected: [own, noExecute('not-ready')] },
    {
      name: 'replace each other',
      taints: [noExecute('not-ready'), own],
      ready: 'Unknown',
      expected: [own, noExecute('unreachable')],
    },
    { name: 'are added once', taints: [noExecute('unreachable')], ready: 'Unknown', expected: undefined },
    { name: 'are not added to a ready node', taints: [], ready: 'True', expected: undefined },
  ];
  for (const { name, taints, ready, expected } of rows)
    test(name, () => expect(withEvictionTaint(frozen(nodeWith(taints, { Ready: ready })), wallMs)).toEqual(expected));
});
