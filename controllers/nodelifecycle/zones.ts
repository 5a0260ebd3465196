import type { Cached, Node } from '../../pkg/api/index.ts';
import type { CheckedNode } from './health.ts';

export interface ZoneOptions {
  /** Nodes tainted per second in a healthy zone, or in a full disruption that does not affect all zones. */
  readonly evictionRate: number;
  /** Nodes tainted per second in a large zone in partial disruption. */
  readonly secondaryEvictionRate: number;
  /** A zone with more nodes is large. In a smaller zone in partial disruption, no node is tainted. */
  readonly largeClusterSize: number;
  /** A zone is in partial disruption if this fraction of its nodes, and at least three, are not ready. */
  readonly unhealthyThreshold: number;
}

export type ZoneState = 'initial' | 'normal' | 'partial-disruption' | 'full-disruption';

export interface ZoneCount {
  readonly ready: number;
  readonly unready: number;
}

/** Region and zone as one name; empty for nodes without labels for them. Metrics show it in the format of the Go binary. */
export function zoneOf({ metadata: { labels } }: Cached<Node>): string {
  const zone = labels?.['failure-domain.beta.kubernetes.io/zone'] ?? labels?.['topology.kubernetes.io/zone'] ?? '';
  const region =
    labels?.['failure-domain.beta.kubernetes.io/region'] ?? labels?.['topology.kubernetes.io/region'] ?? '';
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}

/** The nodes of each zone. Nodes labelled `node.kubernetes.io/exclude-disruption` do not count. */
export function countByZone(
  nodes: readonly Pick<CheckedNode, 'node' | 'health' | 'zone'>[],
): ReadonlyMap<string, ZoneCount> {
  const counts = new Map<string, { ready: number; unready: number }>();
  for (const { node, health, zone } of nodes) {
    if (node.metadata.labels?.['node.kubernetes.io/exclude-disruption'] !== undefined) continue;
    let count = counts.get(zone);
    if (count === undefined) counts.set(zone, (count = { ready: 0, unready: 0 }));
    if (health.ready === 'True') count.ready += 1;
    else count.unready += 1;
  }
  return counts;
}

export function computeZoneState({ ready, unready }: ZoneCount, unhealthyThreshold: number): ZoneState {
  if (ready === 0 && unready > 0) return 'full-disruption';
  // The flag is a float32. Exactly at the threshold, its last bit decides.
  const part = Math.fround(unready / (ready + unready));
  return unready > 2 && part >= Math.fround(unhealthyThreshold) ? 'partial-disruption' : 'normal';
}

export interface DisruptionPlan {
  readonly states: ReadonlyMap<string, ZoneState>;
  /** The new eviction rates of zones whose rate changes. */
  readonly rates: ReadonlyMap<string, number>;
  /**
   * `full-disruption`: no zone has a ready node any more. A network failure on our side is more likely than a failure of
   * every node, so NoExecute taints are removed and evictions stop. `recovered`: a node is ready again.
   */
  readonly transition: 'full-disruption' | 'recovered' | undefined;
}

/** Computes the states of all zones and their eviction rates. Zones without nodes are dropped. */
export function planDisruption(
  counts: ReadonlyMap<string, ZoneCount>,
  before: ReadonlyMap<string, ZoneState>,
  options: ZoneOptions,
): DisruptionPlan {
  const states = new Map<string, ZoneState>();
  for (const [zone, count] of counts) states.set(zone, computeZoneState(count, options.unhealthyThreshold));
  const stateBefore = (zone: string): ZoneState => before.get(zone) ?? 'initial';
  const zones = [...states.keys()];
  if (zones.length === 0) return { states, rates: new Map(), transition: undefined };
  const isFull = zones.every((zone) => states.get(zone) === 'full-disruption');
  // Zones that no longer exist count too: the removal of the last healthy zone is a transition.
  const wasFull = [...zones, ...before.keys()].every((zone) => stateBefore(zone) === 'full-disruption');
  if (isFull && wasFull) return { states, rates: new Map(), transition: undefined };
  if (isFull) return { states, rates: new Map(zones.map((zone) => [zone, 0])), transition: 'full-disruption' };
  const changed = zones.filter((zone) => wasFull || stateBefore(zone) !== states.get(zone));
  const rateIn = (zone: string): number => evictionRateOf(states.get(zone), counts.get(zone), options);
  return {
    states,
    rates: new Map(changed.map((zone) => [zone, rateIn(zone)])),
    transition: wasFull ? 'recovered' : undefined,
  };
}

function evictionRateOf(state: ZoneState | undefined, count: ZoneCount | undefined, options: ZoneOptions): number {
  if (state !== 'partial-disruption') return options.evictionRate;
  const size = (count?.ready ?? 0) + (count?.unready ?? 0);
  return size > options.largeClusterSize ? options.secondaryEvictionRate : 0;
}
