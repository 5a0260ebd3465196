import { describe, expect, test } from 'vitest';

import type { Cached, Endpoint } from '../../pkg/api/index.ts';
import { endpointSlice, frozen, node, service } from '../../test/support/builders.ts';
import { hintByDistribution, trafficDistributionOf, wantsTopologyHints } from './hints.ts';
import { hintByTopology, isOverloaded } from './topology-hints.ts';
import { ZoneCapacity } from './zone-shares.ts';

const endpoints = (...zones: readonly (string | undefined)[]): Cached<Endpoint>[] =>
  zones.map((zone, index) => ({
    addresses: [`10.0.0.${index}`],
    conditions: { ready: true },
    nodeName: `node-${index}`,
    ...(zone !== undefined && { zone }),
  }));
const draft = (list: Cached<Endpoint>[]) => ({ ports: [], endpoints: list });
const equalShares = new Map([
  ['a', 0.5],
  ['b', 0.5],
]);
const hint = (list: Cached<Endpoint>[], shares: ReadonlyMap<string, number> | undefined = equalShares) =>
  hintByTopology({ create: [draft(list)], update: [], unchanged: [] }, { shares, family: 'IPv4', hadHints: false });
const zonesOf = (list: readonly Cached<Endpoint>[] | undefined): string[] =>
  (list ?? []).map(({ hints }) => (hints?.forZones ?? []).map(({ name }) => name).join('+'));

describe('hints by topology', () => {
  const rows = [
    { name: 'use the own zone if shares are met', zones: ['a', 'b'], hints: ['a', 'b'] },
    { name: 'move the surplus of a zone', zones: ['a', 'a', 'a', 'b'], hints: ['b', 'a', 'a', 'b'] },
    {
      name: 'do not move half an endpoint',
      zones: ['a', 'a', 'b'],
      hints: ['', '', ''],
      event: /Unable to allocate minimum/,
    },
    {
      name: 'need an endpoint for each zone',
      zones: ['a'],
      hints: [''],
      event: /Insufficient number of endpoints \(1 endpoints, 2 zones\), addressType: IPv4$/,
    },
    {
      name: 'need the zone of every endpoint',
      zones: ['a', undefined],
      hints: ['', ''],
      event: /do not have a zone specified/,
    },
  ];
  for (const { name, zones, hints, event } of rows) {
    test(name, () => {
      const hinted = hint(endpoints(...zones));
      expect(zonesOf(hinted.create[0]?.endpoints)).toEqual(hints);
      expect(hinted.event?.reason).toBe(
        event === undefined ? 'TopologyAwareHintsEnabled' : 'TopologyAwareHintsDisabled',
      );
      expect(hinted.event?.message).toMatch(event ?? /has been enabled/);
    });
  }

  test('are not set if nodes are incomplete', () => {
    expect(
      hintByTopology({ create: [], update: [], unchanged: [] }, { shares: undefined, family: 'IPv6', hadHints: true })
        .event?.message,
    ).toBe(
      'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes, addressType: IPv6',
    );
  });

  test('are set although a slice has null endpoints', () => {
    const empty = frozen({ ...endpointSlice({ name: 'web-1' }, {}), endpoints: null, ports: null });
    const input = { create: [draft(endpoints('a', 'b'))], update: [], unchanged: [empty] };
    const hinted = hintByTopology(input, { shares: equalShares, family: 'IPv4', hadHints: true });
    expect(zonesOf(hinted.create[0]?.endpoints)).toEqual(['a', 'b']);
  });

  test('do not update slices with the right hints', () => {
    const [a, b] = endpoints('a', 'b').map((each) => ({ ...each, hints: { forZones: [{ name: each.zone ?? '' }] } }));
    const stored = frozen(endpointSlice({ name: 'web-1' }, { endpoints: structuredClone([a, b]) as Endpoint[] }));
    const input = { create: [], update: [], unchanged: [stored] };
    const hinted = hintByTopology(input, { shares: equalShares, family: 'IPv4', hadHints: true });
    expect([hinted.update, hinted.event]).toEqual([[], undefined]);
    expect([...(hinted.byZone ?? [])]).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
  });

  test('are overloaded if a zone has too few endpoints for its share', () => {
    const byZone = new Map([
      ['a', 3],
      ['b', 1],
    ]);
    expect([
      isOverloaded(byZone, equalShares),
      isOverloaded(
        byZone,
        new Map([
          ['a', 0.75],
          ['b', 0.25],
        ]),
      ),
    ]).toEqual([true, false]);
    expect([isOverloaded(byZone, undefined), isOverloaded(new Map(), equalShares)]).toEqual([true, false]);
  });
});

describe('hints by traffic distribution', () => {
  test('name the zone, and for PreferSameNode the node', () => {
    const input = { create: [draft(endpoints('a'))], update: [], unchanged: [] };
    const hintsFor = (distribution: string) => hintByDistribution(input, distribution).create[0]?.endpoints[0]?.hints;
    expect(hintsFor('PreferClose')).toEqual({ forZones: [{ name: 'a' }] });
    expect(hintsFor('PreferSameNode')).toEqual({ forZones: [{ name: 'a' }], forNodes: [{ name: 'node-0' }] });
  });

  const rows = [
    { chosen: 'PreferClose', enabled: false, found: 'PreferClose' },
    { chosen: 'PreferSameZone', enabled: true, found: 'PreferSameZone' },
    { chosen: 'PreferSameZone', enabled: false, found: undefined },
    { chosen: 'Whatever', enabled: true, found: undefined },
    { chosen: undefined, enabled: true, found: undefined },
  ];
  for (const { chosen, enabled, found } of rows) {
    test(`${chosen ?? 'none'} with the gate ${enabled ? 'on' : 'off'} is ${found ?? 'none'}`, () => {
      const built = frozen(service({ spec: { trafficDistribution: chosen } }));
      expect(trafficDistributionOf(built, { preferSameEnabled: enabled })).toBe(found);
    });
  }

  test('is ignored if the older annotation is set', () => {
    const annotated = frozen(
      service({
        annotations: {
          'service.kubernetes.io/topology-aware-hints': 'auto',
          'service.kubernetes.io/topology-mode': 'Disabled',
        },
        spec: { trafficDistribution: 'PreferClose' },
      }),
    );
    expect([wantsTopologyHints(annotated), trafficDistributionOf(annotated, { preferSameEnabled: true })]).toEqual([
      true,
      undefined,
    ]);
  });
});

describe('ZoneCapacity', () => {
  const zoned = (name: string, zone: string, cpu: string, ready = 'True') =>
    frozen(
      node({
        name,
        labels: { 'topology.kubernetes.io/zone': zone },
        status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: ready }] },
      }),
    );

  test('follows added, updated and deleted nodes', () => {
    const capacity = new ZoneCapacity();
    capacity.replace(undefined, zoned('1', 'a', '4'));
    expect(capacity.shares).toBeUndefined();
    capacity.replace(undefined, zoned('2', 'b', '12'));
    expect([...(capacity.shares ?? [])]).toEqual([
      ['a', 0.25],
      ['b', 0.75],
    ]);
    expect(capacity.replace(zoned('2', 'b', '12'), zoned('2', 'b', '12'))).toBe(false);
    capacity.replace(undefined, zoned('3', '', '4'));
    expect(capacity.shares).toBeUndefined();
    capacity.replace(zoned('3', '', '4'), zoned('3', '', '4', 'False'));
    expect(capacity.shares?.size).toBe(2);
    capacity.replace(zoned('2', 'b', '12'), undefined);
    expect(capacity.shares).toBeUndefined();
  });
});
