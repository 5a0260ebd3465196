import { describe, expect, test } from 'vitest';

import { node } from '../../test/support/builders.ts';
import type { NodeHealth } from './health.ts';
import {
  computeZoneState,
  countByZone,
  planDisruption,
  zoneOf,
  type DisruptionPlan,
  type ZoneCount,
  type ZoneState,
} from './zones.ts';

describe('zoneOf', () => {
  const rows = [
    { name: 'is empty without labels', labels: {}, zone: '' },
    {
      name: 'joins region and zone',
      labels: { 'topology.kubernetes.io/zone': 'a', 'topology.kubernetes.io/region': 'r' },
      zone: 'r:\0:a',
    },
    { name: 'needs no region', labels: { 'topology.kubernetes.io/zone': 'a' }, zone: ':\0:a' },
    {
      name: 'prefers the deprecated labels',
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

test('countByZone counts the nodes of each zone, without nodes labelled exclude-disruption', () => {
  const checked = (zone: string, ready: string, labels = {}) => {
    const health: NodeHealth = { uid: 'u', aliveMs: 0, heartbeat: undefined, leaseRenewal: undefined, ready };
    return { node: node({ labels }), health, zone };
  };
  const excluded = { 'node.kubernetes.io/exclude-disruption': '' };
  const counts = countByZone([
    checked('a', 'True'),
    checked('a', 'Unknown'),
    checked('a', 'False'),
    checked('a', 'True', excluded),
    checked('b', 'True'),
    checked('c', 'True', excluded),
  ]);
  expect(Object.fromEntries(counts)).toEqual({ a: { ready: 1, unready: 2 }, b: { ready: 1, unready: 0 } });
});

describe('computeZoneState', () => {
  const rows: { name: string; ready: number; unready: number; state: ZoneState }[] = [
    { name: 'the only node of a zone is not ready', ready: 0, unready: 1, state: 'full-disruption' },
    { name: 'two nodes are never a disruption while another is ready', ready: 1, unready: 2, state: 'normal' },
    {
      name: 'three nodes above the threshold are a partial disruption',
      ready: 2,
      unready: 3,
      state: 'partial-disruption',
    },
    { name: 'just below the threshold the zone is normal', ready: 46, unready: 54, state: 'normal' },
    {
      name: 'exactly at the threshold the zone is in partial disruption',
      ready: 9,
      unready: 11,
      state: 'partial-disruption',
    },
    { name: 'a third of the nodes is no disruption', ready: 8, unready: 4, state: 'normal' },
    { name: 'no node is ready', ready: 0, unready: 100, state: 'full-disruption' },
  ];
  for (const { name, state, ...count } of rows) test(name, () => expect(computeZoneState(count, 0.55)).toBe(state));
});

describe('planDisruption', () => {
  const options = { evictionRate: 0.1, secondaryEvictionRate: 0.01, largeClusterSize: 50, unhealthyThreshold: 0.55 };
  const healthy: ZoneCount = { ready: 10, unready: 0 };
  const full: ZoneCount = { ready: 0, unready: 10 };
  const small: ZoneCount = { ready: 10, unready: 40 };
  const large: ZoneCount = { ready: 10, unready: 41 };
  interface Row {
    name: string;
    counts: Record<string, ZoneCount>;
    before: Record<string, ZoneState>;
    rates: Record<string, number>;
    transition?: DisruptionPlan['transition'];
  }
  const rows: Row[] = [
    { name: 'sets the rate of a new zone', counts: { a: healthy }, before: {}, rates: { a: 0.1 } },
    { name: 'changes no rate while states stay the same', counts: { a: healthy }, before: { a: 'normal' }, rates: {} },
    {
      name: 'stops in a small zone in partial disruption',
      counts: { a: small },
      before: { a: 'normal' },
      rates: { a: 0 },
    },
    {
      name: 'slows down in a large zone in partial disruption',
      counts: { a: large },
      before: { a: 'normal' },
      rates: { a: 0.01 },
    },
    {
      name: 'continues in a zone in full disruption while another is healthy',
      counts: { a: full, b: healthy },
      before: { a: 'partial-disruption', b: 'normal' },
      rates: { a: 0.1 },
    },
    {
      name: 'stops everywhere when the last zone becomes fully disrupted',
      counts: { a: full, b: full },
      before: { a: 'full-disruption', b: 'normal' },
      rates: { a: 0, b: 0 },
      transition: 'full-disruption',
    },
    {
      name: 'stops when the cluster is fully disrupted at the first check',
      counts: { a: full },
      before: {},
      rates: { a: 0 },
      transition: 'full-disruption',
    },
    {
      name: 'changes nothing during a full disruption',
      counts: { a: full, b: full },
      before: { a: 'full-disruption', b: 'full-disruption' },
      rates: {},
    },
    {
      name: 'sets the rate of every zone after a full disruption',
      counts: { a: full, b: large },
      before: { a: 'full-disruption', b: 'full-disruption' },
      rates: { a: 0.1, b: 0.01 },
      transition: 'recovered',
    },
    {
      name: 'stops when the only healthy zone is removed',
      counts: { a: full },
      before: { a: 'full-disruption', b: 'normal' },
      rates: { a: 0 },
      transition: 'full-disruption',
    },
    { name: 'does nothing without nodes', counts: {}, before: { a: 'normal' }, rates: {} },
  ];
  for (const { name, counts, before, rates, transition } of rows) {
    test(name, () => {
      const plan = planDisruption(new Map(Object.entries(counts)), new Map(Object.entries(before)), options);
      expect(Object.fromEntries(plan.rates)).toEqual(rates);
      expect(plan.transition).toBe(transition);
      expect([...plan.states.keys()]).toEqual(Object.keys(counts));
    });
  }
});
