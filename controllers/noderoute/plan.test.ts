import { describe, expect, test } from 'vitest';

import type { Cached, Node } from '../../pkg/api/index.ts';
import type { Route } from '../../pkg/cloud/index.ts';
import { parseCidr, type Cidr } from '../../pkg/ip/index.ts';
import { frozen, node } from '../../test/support/builders.ts';
import { planCondition, planRoutes } from './plan.ts';

const addresses = [{ type: 'InternalIP', address: '192.0.2.1' }];

function machine(name: string, podCIDRs: string[] = []): Cached<Node> {
  return frozen(node({ metadata: { name }, spec: { podCIDRs }, status: { addresses } }));
}

function route(targetNode: string, destinationCidr: string, fields: Partial<Route> = {}): Route {
  return { name: `${targetNode} ${destinationCidr}`, targetNode, destinationCidr, ...fields };
}

const told = ({ targetNode, destinationCidr }: Route): string => `${targetNode} ${destinationCidr}`;

const rangeOf = (text: string): Cidr => parseCidr(text) ?? expect.unreachable(text);

describe('planRoutes', () => {
  interface Row {
    readonly name: string;
    readonly nodes: readonly Cached<Node>[];
    readonly routes?: readonly Route[];
    readonly clusterCidrs?: readonly string[];
    readonly deletions?: readonly string[];
    readonly creations?: readonly string[];
    readonly reported?: readonly string[];
  }
  const moved = { enableNodeAddresses: true, targetNodeAddresses: [{ type: 'InternalIP', address: '192.0.2.9' }] };
  const rows: readonly Row[] = [
    {
      name: 'creates the routes of a node',
      nodes: [machine('a', ['10.0.1.0/24'])],
      creations: ['a 10.0.1.0/24'],
      reported: ['a'],
    },
    {
      name: 'creates a route for each family',
      nodes: [machine('a', ['10.0.1.0/24', 'fd00::/64'])],
      creations: ['a 10.0.1.0/24', 'a fd00::/64'],
      reported: ['a'],
    },
    { name: 'waits for the pod CIDR of a node', nodes: [machine('a')] },
    {
      name: 'keeps a route',
      nodes: [machine('a', ['10.0.1.0/24'])],
      routes: [route('a', '10.0.1.0/24')],
      reported: ['a'],
    },
    {
      name: 'deletes the route of a node that is gone',
      nodes: [],
      routes: [route('a', '10.0.1.0/24')],
      deletions: ['a 10.0.1.0/24'],
    },
    {
      name: 'replaces the route to a node that now has another CIDR',
      nodes: [machine('a', ['10.0.2.0/24'])],
      routes: [route('a', '10.0.1.0/24')],
      deletions: ['a 10.0.1.0/24'],
      creations: ['a 10.0.2.0/24'],
      reported: ['a'],
    },
    {
      name: 'replaces a route to another node',
      nodes: [machine('a', ['10.0.1.0/24'])],
      routes: [route('b', '10.0.1.0/24')],
      deletions: ['b 10.0.1.0/24'],
      creations: ['a 10.0.1.0/24'],
      reported: ['a'],
    },
    { name: 'leaves routes outside of the cluster CIDR alone', nodes: [], routes: [route('x', '192.168.0.0/24')] },
    { name: 'leaves a route that contains the cluster CIDR alone', nodes: [], routes: [route('x', '0.0.0.0/0')] },
    { name: 'leaves a route alone that it cannot read', nodes: [], routes: [route('x', 'everywhere')] },
    {
      name: 'deletes routes of the second family',
      nodes: [],
      routes: [route('a', 'fd00::/64')],
      clusterCidrs: ['10.0.0.0/16', 'fd00::/56'],
      deletions: ['a fd00::/64'],
    },
    {
      name: 'deletes a route that leads nowhere, even if its node wants it',
      nodes: [machine('a', ['10.0.1.0/24'])],
      routes: [route('a', '10.0.1.0/24', { blackhole: true })],
      deletions: ['a 10.0.1.0/24'],
      reported: ['a'],
    },
    {
      name: 'deletes a route without a node',
      nodes: [machine('a', ['10.0.1.0/24'])],
      routes: [route('', '10.0.9.0/24')],
      deletions: [' 10.0.9.0/24'],
      creations: ['a 10.0.1.0/24'],
      reported: ['a'],
    },
    {
      name: 'replaces a route whose node has other addresses',
      nodes: [machine('a', ['10.0.1.0/24'])],
      routes: [route('a', '10.0.1.0/24', moved)],
      deletions: ['a 10.0.1.0/24'],
      creations: ['a 10.0.1.0/24'],
      reported: ['a'],
    },
    {
      name: 'ignores addresses if the cloud does',
      nodes: [machine('a', ['10.0.1.0/24'])],
      routes: [route('a', '10.0.1.0/24', { ...moved, enableNodeAddresses: false })],
      reported: ['a'],
    },
    {
      name: 'reports a node that has a route but no CIDR',
      nodes: [machine('a')],
      routes: [route('a', '10.0.1.0/24')],
      deletions: ['a 10.0.1.0/24'],
      reported: ['a'],
    },
  ];
  for (const { name, nodes, routes = [], clusterCidrs = ['10.0.0.0/16'], ...expected } of rows) {
    test(name, () => {
      const plan = planRoutes({ nodes, routes, clusterCidrs: clusterCidrs.map(rangeOf) });
      expect(plan.deletions.map(told)).toEqual(expected.deletions ?? []);
      expect(plan.creations.map((creation) => told(creation.route))).toEqual(expected.creations ?? []);
      expect(plan.reported.map(({ metadata }) => metadata.name)).toEqual(expected.reported ?? []);
      expect(plan.deletesFirst).toBe(routes[0]?.enableNodeAddresses === true);
    });
  }
});

describe('planCondition', () => {
  const now = '2026-01-01T00:00:00Z';
  const nowMs = Date.parse(now);
  const withCondition = (status: string, reason: string): Cached<Node> =>
    frozen(node({ status: { conditions: [{ type: 'NetworkUnavailable', status, reason }] } }));
  const rows = [
    { name: 'a new node with routes', subject: frozen(node()), hasRoutes: true, expected: ['False', 'RouteCreated'] },
    { name: 'a new node without', subject: frozen(node()), hasRoutes: false, expected: ['True', 'NoRouteCreated'] },
    {
      name: 'a node that shows it',
      subject: withCondition('False', 'RouteCreated'),
      hasRoutes: true,
      expected: undefined,
    },
    {
      name: 'a node that got its routes',
      subject: withCondition('True', 'NoRouteCreated'),
      hasRoutes: true,
      expected: ['False', 'RouteCreated'],
    },
    {
      name: 'a condition of somebody else',
      subject: withCondition('False', 'CalicoIsUp'),
      hasRoutes: true,
      expected: ['False', 'RouteCreated'],
    },
    {
      name: 'a node that shows that it has none',
      subject: withCondition('True', 'NoRouteCreated'),
      hasRoutes: false,
      expected: undefined,
    },
  ];
  for (const { name, subject, hasRoutes, expected } of rows) {
    test(name, () => {
      const condition = planCondition(subject, { hasRoutes, nowMs });
      expect(condition && [condition.status, condition.reason]).toEqual(expected);
      const times = condition && [condition.lastHeartbeatTime, condition.lastTransitionTime];
      expect(times).toEqual(expected && [now, now]);
    });
  }
});
