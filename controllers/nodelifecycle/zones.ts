import type { Cached, Node } from '../../pkg/api/index.ts';

export interface ZoneOptions {
  /** Nodes per second that may be tainted in a zone that is well, or wholly dark while others are not. */
  readonly evictionRate: number;
  /** The same in a large zone that is partly dark. */
  readonly secondaryEvictionRate: number;
  /** A zone is large with more nodes than this; smaller ones that are partly dark are left alone. */
  readonly largeClusterSize: number;
  /** Part of the nodes, at least three, that must be unready for a zone to count as partly dark. */
  readonly unhealthyThreshold: number;
}

export type ZoneState = 'initial' | 'normal' | 'partial-disruption' | 'full-disruption';

export interface ZoneCount {
  readonly ready: number;
  readonly unready: number;
}

/** Region and zone as one name, empty for nodes without either. Metrics show it, in the Go binary's spelling. */
export function zoneOf({ metadata: { labels } }: Cached<Node>): string {
  const zone = labels?.['failure-domain.beta.kubernetes.io/zone'] ?? labels?.['topology.kubernetes.io/zone'] ?? '';
  const region =
    labels?.['failure-domain.beta.kubernetes.io/region'] ?? labels?.['topology.kubernetes.io/region'] ?? '';
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}

/** Some nodes, such as those that come and go with their users, say nothing about the state of their zone. */
export function countsForZone({ metadata: { labels } }: Cached<Node>): boolean {
  return labels?.['node.kubernetes.io/exclude-disruption'] === undefined;
}

export function computeZoneState({ ready, unready }: ZoneCount, unhealthyThreshold: number): ZoneState {
  if (ready === 0 && unready > 0) return 'full-disruption';
  // In single precision, as the flag is defined: at the very threshold the last bit decides.
  const part = Math.fround(unready / (ready + unready));
  return unready > 2 && part >= Math.fround(unhealthyThreshold) ? 'partial-disruption' : 'normal';
}

export interface DisruptionPlan {
  readonly states: ReadonlyMap<string, ZoneState>;
  /** Zones whose rate of evictions has to change, and to what. */
  readonly rates: ReadonlyMap<string, number>;
  /**
   * `all-dark`: not one zone has a ready node any more. It is more likely that we are cut off than that every machine
   * has failed: what was begun is taken back, and nothing is evicted. `light`: the first node is back.
   */
  readonly turn: 'all-dark' | 'light' | undefined;
}

/** What the state of the zones means for evictions. Zones without nodes are forgotten. */
export function planDisruption(
  counts: ReadonlyMap<string, ZoneCount>,
  before: ReadonlyMap<string, ZoneState>,
  options: ZoneOptions,
): DisruptionPlan {
  const states = new Map<string, ZoneState>();
  for (const [zone, count] of counts) states.set(zone, computeZoneState(count, options.unhealthyThreshold));
  const stateBefore = (zone: string): ZoneState => before.get(zone) ?? 'initial';
  const zones = [...states.keys()];
  if (zones.length === 0) return { states, rates: new Map(), turn: undefined };
  const isDark = zones.every((zone) => states.get(zone) === 'full-disruption');
  // Zones that are gone count too: with the last one that was well gone, the rest is all there is.
  const wasDark = [...zones, ...before.keys()].every((zone) => stateBefore(zone) === 'full-disruption');
  if (isDark && wasDark) return { states, rates: new Map(), turn: undefined };
  if (isDark) return { states, rates: new Map(zones.map((zone) => [zone, 0])), turn: 'all-dark' };
  const changed = zones.filter((zone) => wasDark || stateBefore(zone) !== states.get(zone));
  const rateIn = (zone: string): number => evictionRateOf(states.get(zone), counts.get(zone), options);
  return {
    states,
    rates: new Map(changed.map((zone) => [zone, rateIn(zone)])),
    turn: wasDark ? 'light' : undefined,
  };
}

function evictionRateOf(state: ZoneState | undefined, count: ZoneCount | undefined, options: ZoneOptions): number {
  if (state !== 'partial-disruption') return options.evictionRate;
  const size = (count?.ready ?? 0) + (count?.unready ?? 0);
  return size > options.largeClusterSize ? options.secondaryEvictionRate : 0;
}
