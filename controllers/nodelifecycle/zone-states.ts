import type { Logger } from '../../pkg/log/index.ts';
import type { EvictionQueue } from './eviction-queue.ts';
import type { CheckedNode } from './health.ts';
import type { NodeMetrics } from './metrics.ts';
import {
  countByZone,
  planDisruption,
  type DisruptionPlan,
  type ZoneCount,
  type ZoneOptions,
  type ZoneState,
} from './zones.ts';

export interface ZoneStatesDeps {
  readonly logger: Logger;
  readonly metrics: NodeMetrics;
  readonly evictions: EvictionQueue;
}

/** The state of every zone. Sets the eviction rate of each zone. */
export class ZoneStates {
  readonly #options: ZoneOptions;
  readonly #deps: ZoneStatesDeps;
  #states: ReadonlyMap<string, ZoneState> = new Map();
  #zones: ReadonlySet<string> = new Set();

  constructor(options: ZoneOptions, deps: ZoneStatesDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** Computes the states from the health of all nodes. Returns the transition of the whole cluster, if there is one. */
  update(nodes: readonly CheckedNode[], nowMs: number): DisruptionPlan['transition'] {
    const { logger, evictions } = this.#deps;
    this.#updateZones(new Set(nodes.map(({ zone }) => zone)));
    const counts = countByZone(nodes);
    this.#showCounts(counts);
    const { states, rates, transition } = planDisruption(counts, this.#states, this.#options);
    for (const [zone, rate] of rates) {
      logger.info({ zone, before: this.#states.get(zone), after: states.get(zone), rate }, 'zone state changed');
      evictions.setRate(zone, rate, nowMs);
    }
    this.#states = states;
    const fields = { nodes: nodes.length };
    if (transition === 'full-disruption')
      logger.warn(fields, 'all zones are in full disruption, stopping all evictions');
    if (transition === 'recovered') logger.info(fields, 'a node is ready again, resuming evictions');
    return transition;
  }

  #updateZones(zones: ReadonlySet<string>): void {
    const { evictions, metrics } = this.#deps;
    for (const zone of zones) {
      if (evictions.hasZone(zone)) continue;
      evictions.addZone(zone, this.#options.evictionRate);
      metrics.evictions.with({ zone });
    }
    for (const zone of this.#zones.difference(zones)) evictions.removeZone(zone);
    this.#zones = zones;
  }

  #showCounts(counts: ReadonlyMap<string, ZoneCount>): void {
    const { metrics } = this.#deps;
    for (const [zone, { ready, unready }] of counts) {
      metrics.zoneSize.with({ zone }).set(ready + unready);
      metrics.zoneHealth.with({ zone }).set((100 * ready) / (ready + unready));
      metrics.unhealthyNodes.with({ zone }).set(unready);
    }
    for (const zone of this.#states.keys()) {
      if (counts.has(zone)) continue;
      metrics.zoneSize.with({ zone }).set(0);
      metrics.zoneHealth.with({ zone }).set(100);
      metrics.unhealthyNodes.with({ zone }).set(0);
    }
  }
}
