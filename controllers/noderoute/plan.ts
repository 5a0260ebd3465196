import {
  findCondition,
  formatTime,
  isEqualJson,
  type Cached,
  type Node,
  type NodeCondition,
} from '../../pkg/api/index.ts';
import type { NodeAddress, Route } from '../../pkg/cloud/index.ts';
import { areOverlapping, parseCidr, type Cidr } from '../../pkg/ip/index.ts';

export interface RoutePlan {
  readonly deletions: readonly Route[];
  readonly creations: readonly RouteCreation[];
  /** The nodes whose condition tells whether they have their routes. */
  readonly reported: readonly Cached<Node>[];
  /** A route may be deleted and created again, so the deletions must end first. */
  readonly deletesFirst: boolean;
}

export interface RouteCreation {
  readonly node: Cached<Node>;
  readonly route: Route;
}

export interface RouteState {
  readonly nodes: readonly Cached<Node>[];
  readonly routes: readonly Route[];
  /** Routes outside of these ranges belong to somebody else. */
  readonly clusterCidrs: readonly Cidr[];
}

/** One route for each pod CIDR of each node, and no other route in the cluster CIDRs. */
export function planRoutes({ nodes, routes, clusterCidrs }: RouteState): RoutePlan {
  const byTarget = Map.groupBy(routes, ({ targetNode }) => targetNode);
  const kept = new Set<Route>();
  const creations: RouteCreation[] = [];
  for (const node of nodes) {
    const { name } = node.metadata;
    const addresses = node.status?.addresses ?? [];
    for (const destinationCidr of podCidrsOf(node)) {
      const present = (byTarget.get(name) ?? []).filter((route) => route.destinationCidr === destinationCidr);
      const isCurrent = present[0] !== undefined && hasAddresses(present[0], addresses);
      const route = { targetNode: name, destinationCidr, targetNodeAddresses: addresses };
      if (isCurrent) present.forEach((each) => kept.add(each));
      else creations.push({ node, route });
    }
  }
  const isOurs = ({ destinationCidr }: Route): boolean => {
    const range = parseCidr(destinationCidr);
    return range !== undefined && clusterCidrs.some((cluster) => hasEnd(cluster, range));
  };
  return {
    deletions: routes.filter((route) => isOurs(route) && (route.blackhole === true || !kept.has(route))),
    creations,
    reported: nodes.filter((node) => podCidrsOf(node).length > 0 || byTarget.has(node.metadata.name)),
    deletesFirst: routes[0]?.enableNodeAddresses === true,
  };
}

export function podCidrsOf({ spec }: Cached<Node>): readonly string[] {
  return spec.podCIDRs ?? [];
}

/** Whether the first or the last address of the range is in the cluster CIDR. */
function hasEnd(cluster: Cidr, range: Cidr): boolean {
  const contains = (address: bigint): boolean => cluster.first <= address && address <= cluster.last;
  return areOverlapping(cluster, range) && (contains(range.first) || contains(range.last));
}

function hasAddresses(
  { enableNodeAddresses, targetNodeAddresses = [] }: Route,
  addresses: readonly Cached<NodeAddress>[],
): boolean {
  if (enableNodeAddresses !== true) return true;
  if (targetNodeAddresses.length !== addresses.length) return false;
  return addresses.every((address) => targetNodeAddresses.some((each) => isEqualJson(each, address)));
}

/** The condition to write; undefined if the node has it already. */
export function planCondition(
  { status }: Cached<Node>,
  { hasRoutes, nowMs }: { readonly hasRoutes: boolean; readonly nowMs: number },
): NodeCondition | undefined {
  const wanted = hasRoutes ? routesCreated : noRoutesCreated;
  const present = findCondition(status?.conditions, wanted.type);
  if (present?.status === wanted.status && present.reason === wanted.reason) return undefined;
  const now = formatTime(nowMs);
  return { ...wanted, lastHeartbeatTime: now, lastTransitionTime: now };
}

const routesCreated = {
  type: 'NetworkUnavailable',
  status: 'False',
  reason: 'RouteCreated',
  message: 'RouteController created a route',
};
const noRoutesCreated = {
  type: 'NetworkUnavailable',
  status: 'True',
  reason: 'NoRouteCreated',
  message: 'RouteController failed to create a route',
};
