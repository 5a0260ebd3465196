import { describe, expect, test } from 'vitest';

import { node } from '../../test/support/builders.ts';
import { computeZoneState, countsForZone, planDisruption, zoneOf, type ZoneCount, type ZoneState } from './zones.ts';

describe('zoneOf', () => {
  const rows = [
    { name: 'is empty without labels', labels: {}, zone: '' },
    {
      name: 'joins region and zone',
      labels: { 'topology.kubernetes.io/zone': 'a', 'topology.kubernetes.io/region': 'r' },
      zone: 'r:\0:a',
    },
    { name: 'does without a region', labels: { 'topology.kubernetes.io/zone': 'a' }, zone: ':\0:a' },
    {
      name: 'prefers the former labels',
      labels: {
        'topology.kubernetes.io/zone': 'new',
        'failure-domain.beta.kubernetes.io/zone': 'old',
        'failure-domain.beta.kubernetes.io/region': 'r',
      },
      zone: 'r:\0:old',
    },
  ];
  for (const { name, labels, zone } of rows) test(name, () => expect(zoneOf(node({ labels }))).toBe(zone));
});

test('nodes that exclude themselves do not count', () => {
  expect(countsForZone(node())).toBe(true);
  expect(countsForZone(node({ labels: { 'node.kubernetes.io/exclude-disruption': '' } }))).toBe(false);
});

describe('computeZoneState', () => {
  const rows: { name: string; ready: number; unready: number; state: ZoneState }[] = [
    { name: 'one lost node alone is the whole zone', ready: 0, unready: 1, state: 'full-disruption' },
    { name: 'two lost nodes are never a disruption', ready: 1, unready: 2, state: 'normal' },
    { name: 'three are, if they are enough', ready: 2, unready: 3, state: 'partial-disruption' },
    { name: 'just below the threshold all is well', ready: 46, unready: 54, state: 'normal' },
    { name: 'the threshold itself is a disruption', ready: 9, unready: 11, state: 'partial-disruption' },
    { name: 'a third is not', ready: 8, unready: 4, state: 'normal' },
    { name: 'nobody left to be ready', ready: 0, unready: 100, state: 'full-disruption' },
  ];
  for (const { name, state, ...count } of rows) test(name, () => expect(computeZoneState(count, 0.55)).toBe(state));
});

describe('planDisruption', () => {
  const options = { evictionRate: 0.1, secondaryEvictionRate: 0.01, largeClusterSize: 50, unhealthyThreshold: 0.55 };
  const well: ZoneCount = { ready: 10, unready: 0 };
  const dark: ZoneCount = { ready: 0, unready: 10 };
  const small: ZoneCount = { ready: 10, unready: 40 };
  const large: ZoneCount = { ready: 10, unready: 41 };
  interface Row {
    name: string;
    counts: Record<string, ZoneCount>;
    before: Record<string, ZoneState>;
    rates: Record<string, number>;
    turn?: 'all-dark' | 'light';
  }
  const rows: Row[] = [
    { name: 'sets the rate of a new zone', counts: { a: well }, before: {}, rates: { a: 0.1 } },
    { name: 'leaves zones alone that stay as they were', counts: { a: well }, before: { a: 'normal' }, rates: {} },
    {
      name: 'stops in a small zone that is partly dark',
      counts: { a: small },
      before: { a: 'normal' },
      rates: { a: 0 },
    },
    { name: 'slows down in a large one', counts: { a: large }, before: { a: 'normal' }, rates: { a: 0.01 } },
    {
      name: 'goes on in a dark zone while others are well',
      counts: { a: dark, b: well },
      before: { a: 'partial-disruption', b: 'normal' },
      rates: { a: 0.1 },
    },
    {
      name: 'stops everywhere when the last zone goes dark',
      counts: { a: dark, b: dark },
      before: { a: 'full-disruption', b: 'normal' },
      rates: { a: 0, b: 0 },
      turn: 'all-dark',
    },
    {
      name: 'stops when it finds the whole cluster dark at first sight',
      counts: { a: dark },
      before: {},
      rates: { a: 0 },
      turn: 'all-dark',
    },
    {
      name: 'changes nothing while it stays dark',
      counts: { a: dark, b: dark },
      before: { a: 'full-disruption', b: 'full-disruption' },
      rates: {},
    },
    {
      name: 'resets every zone with the first light',
      counts: { a: dark, b: large },
      before: { a: 'full-disruption', b: 'full-disruption' },
      rates: { a: 0.1, b: 0.01 },
      turn: 'light',
    },
    {
      name: 'goes dark when the only zone that was well is gone',
      counts: { a: dark },
      before: { a: 'full-disruption', b: 'normal' },
      rates: { a: 0 },
      turn: 'all-dark',
    },
    { name: 'does nothing without nodes', counts: {}, before: { a: 'normal' }, rates: {} },
  ];
  for (const { name, counts, before, rates, turn } of rows) {
    test(name, () => {
      const plan = planDisruption(new Map(Object.entries(counts)), new Map(Object.entries(before)), options);
      expect(Object.fromEntries(plan.rates)).toEqual(rates);
      expect(plan.turn).toBe(turn);
      expect([...plan.states.keys()]).toEqual(Object.keys(counts));
    });
  }
});
