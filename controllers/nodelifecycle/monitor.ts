import { objectKey, type Cached, type Lease, type Node, type ObjectKey } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { runBounded } from '../../pkg/controller/index.ts';
import type { Store } from '../../informers/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { forEachInTurns, type Clock } from '../../pkg/time/index.ts';
import { changeConditions, changeNode } from './apply.ts';
import { EvictionQueue } from './eviction-queue.ts';
import { afterChanges, judgeHealth, type HealthOptions, type NodeHealth } from './health.ts';
import type { NodeMetrics } from './metrics.ts';
import { planEvictionStep, withEvictionTaint, withoutEvictionTaints, type EvictionStep } from './node-taints.ts';
import type { OwnWrites } from './own-writes.ts';
import { countsForZone, planDisruption, zoneOf, type ZoneOptions, type ZoneState } from './zones.ts';

export const leaseNamespace = 'kube-node-lease';
/** Writes that one pass may have under way: most of their time is the server's. */
const writesAtOnce = 8;

export interface MonitorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: NodeMetrics;
  readonly nodes: Pick<Store<Node>, 'get' | 'list'>;
  readonly leases: Pick<Store<Lease>, 'get'>;
  readonly ownWrites: OwnWrites;
  readonly health: HealthOptions;
  readonly zones: ZoneOptions;
  readonly told: MonitorListener;
}

/** What others want to know. */
export interface MonitorListener {
  registered(node: Cached<Node>): void;
  removed(name: string, uid: string): void;
  /** Ready until now, silent since: found by this pass, or, after a restart, by one that may not have finished. */
  silent(node: Cached<Node>, isNews: boolean): void;
}

/** A node in the course of one pass. */
interface Look {
  node: Cached<Node>;
  health: NodeHealth;
  readonly zone: string;
  readonly isNew: boolean;
}

/** Watches over the health of all nodes, and over the zones that they make up. */
export class Monitor {
  readonly #options: MonitorOptions;
  readonly #health = new Map<string, NodeHealth>();
  readonly #evictions = new EvictionQueue();
  #zoneStates: ReadonlyMap<string, ZoneState> = new Map();
  #zones: ReadonlySet<string> = new Set();
  /** Deleted since the last pass. */
  readonly #deleted = new Set<string>();

  constructor(options: MonitorOptions) {
    this.#options = options;
  }

  /** What the node last said, or we for it, about being ready: known here before the cache shows it. */
  readinessOf(nodeName: string): string | undefined {
    return this.#health.get(nodeName)?.ready;
  }

  nodeDeleted(name: string): void {
    this.#deleted.add(name);
  }

  /** One look at every node: first all are judged, then their zones, and only then is anything done to them. */
  async pass(signal: AbortSignal): Promise<void> {
    const { clock, metrics, nodes } = this.#options;
    const startMs = clock.monotonic();
    this.#forgetDeleted();
    const looks: Look[] = [];
    const silent: Look[] = [];
    await forEachInTurns(nodes.list(), clock, (cached) => {
      const { look, isSilent } = this.#look(cached);
      looks.push(look);
      if (isSilent) silent.push(look);
    });
    await this.#each(silent, signal, (look) => this.#writeSilence(look, signal));
    this.#noteZones(looks);
    const isAllDark = this.#judgeZones(looks);
    await this.#stepEvictions(looks, isAllDark, signal);
    metrics.allNodesDuration.observe((clock.monotonic() - startMs) / 1000);
  }

  /** Taints those whose turn it is, in every zone. */
  async taintNext(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#evictions.busyZones().map((zone) => this.#taintNextOf(zone, signal)));
  }

  #look(cached: Cached<Node>): { readonly look: Look; readonly isSilent: boolean } {
    const { clock, metrics, leases, health: options, ownWrites, told } = this.#options;
    const nowMs = clock.monotonic();
    const node = ownWrites.latest(cached);
    const { name } = node.metadata;
    const previous = this.#health.get(name);
    const lease = leases.get(leaseKeyOf(name));
    const { health, changes } = judgeHealth({ node, lease, previous, options, nowMs, wallMs: clock.now() });
    this.#health.set(name, health);
    const isNew = previous === undefined;
    if (isNew) {
      told.registered(node);
      if (health.ready === 'Unknown') told.silent(node, false);
    }
    const isSilent = changes.length > 0;
    if (!isSilent) metrics.nodeDuration.observe((clock.monotonic() - nowMs) / 1000);
    return { look: { node, health, zone: zoneOf(node), isNew }, isSilent };
  }

  async #writeSilence(look: Look, signal: AbortSignal): Promise<void> {
    const { client, clock, metrics, leases, health: options, ownWrites, told } = this.#options;
    const startMs = clock.monotonic();
    const { name } = look.node.metadata;
    const wasReady = look.health.ready === 'True';
    const previous = look.health;
    let health = previous;
    // Planned anew on what the server holds if the node has spoken up in the meantime.
    const written = await changeConditions(
      client,
      look.node,
      (node) => {
        const lease = leases.get(leaseKeyOf(name));
        const times = { nowMs: clock.monotonic(), wallMs: clock.now() };
        const verdict = judgeHealth({ node, lease, previous, options, ...times });
        health = afterChanges(verdict.health, verdict.changes);
        return verdict.changes;
      },
      signal,
    );
    metrics.nodeDuration.observe((clock.monotonic() - startMs) / 1000);
    if (written === undefined) return;
    ownWrites.wrote(written);
    this.#health.set(name, health);
    look.node = written;
    look.health = health;
    if (wasReady && health.ready !== 'True') told.silent(written, true);
  }

  #forgetDeleted(): void {
    const { nodes, ownWrites, told } = this.#options;
    for (const name of this.#deleted) {
      if (nodes.get(objectKey(undefined, name)) !== undefined) continue; // it is back, before anyone has missed it
      const known = this.#health.get(name);
      if (known !== undefined) told.removed(name, known.uid);
      this.#health.delete(name);
      this.#evictions.remove(name);
      ownWrites.forget(name);
    }
    this.#deleted.clear();
  }

  #noteZones(looks: readonly Look[]): void {
    const { metrics, zones: options } = this.#options;
    const zones = new Set(looks.map(({ zone }) => zone));
    for (const zone of zones) {
      if (this.#evictions.hasZone(zone)) continue;
      this.#evictions.addZone(zone, options.evictionRate);
      metrics.evictions.with({ zone });
    }
    for (const zone of this.#zones.difference(zones)) this.#evictions.removeZone(zone);
    this.#zones = zones;
  }

  /** Sets the pace of evictions. True when the whole cluster has just gone dark. */
  #judgeZones(looks: readonly Look[]): boolean {
    const { clock, logger, zones: options } = this.#options;
    const counts = new Map<string, { ready: number; unready: number }>();
    for (const { node, health, zone } of looks) {
      if (!countsForZone(node)) continue;
      let count = counts.get(zone);
      if (count === undefined) counts.set(zone, (count = { ready: 0, unready: 0 }));
      if (health.ready === 'True') count.ready += 1;
      else count.unready += 1;
    }
    this.#showZones(counts);
    const { states, rates, turn } = planDisruption(counts, this.#zoneStates, options);
    const nowMs = clock.monotonic();
    for (const [zone, rate] of rates) {
      logger.info({ zone, before: this.#zoneStates.get(zone), after: states.get(zone), rate }, 'state of zone changed');
      this.#evictions.setRate(zone, rate, nowMs);
    }
    this.#zoneStates = states;
    if (turn === 'all-dark') logger.warn({ nodes: looks.length }, 'no node is ready: stopping all evictions');
    if (turn === 'light') {
      logger.info({ nodes: looks.length }, 'a node is ready again: evictions go on');
      // For as long as we were cut off, silence meant nothing.
      for (const [name, health] of this.#health) this.#health.set(name, { ...health, aliveMs: nowMs });
    }
    return turn === 'all-dark';
  }

  #showZones(counts: ReadonlyMap<string, { readonly ready: number; readonly unready: number }>): void {
    const { metrics } = this.#options;
    for (const [zone, { ready, unready }] of counts) {
      metrics.zoneSize.with({ zone }).set(ready + unready);
      metrics.zoneHealth.with({ zone }).set((100 * ready) / (ready + unready));
      metrics.unhealthyNodes.with({ zone }).set(unready);
    }
    for (const zone of this.#zoneStates.keys()) {
      if (counts.has(zone)) continue;
      metrics.zoneSize.with({ zone }).set(0);
      metrics.zoneHealth.with({ zone }).set(100);
      metrics.unhealthyNodes.with({ zone }).set(0);
    }
  }

  async #stepEvictions(looks: readonly Look[], isAllDark: boolean, signal: AbortSignal): Promise<void> {
    const writes: { readonly look: Look; readonly step: EvictionStep }[] = [];
    for (const look of looks) {
      const { node, health, zone, isNew } = look;
      const step = planEvictionStep(node, { ready: health.ready, isNew, isAllDark });
      if (step === 'queue' || step === 'clear-and-queue') this.#evictions.add(zone, node.metadata.name);
      else this.#evictions.remove(node.metadata.name);
      if (step !== 'none' && step !== 'queue') writes.push({ look, step });
    }
    await this.#each(writes, signal, async ({ look, step }) => {
      const taints = (node: Cached<Node>) =>
        step === 'exchange' ? withEvictionTaint(node, this.#options.clock.now()) : withoutEvictionTaints(node);
      await this.#changeTaints(look.node, taints, signal);
    });
  }

  async #taintNextOf(zone: string, signal: AbortSignal): Promise<void> {
    const { clock, nodes, ownWrites, metrics, logger } = this.#options;
    const latest = (name: string): Cached<Node> | undefined => {
      const cached = nodes.get(objectKey(undefined, name));
      return cached === undefined ? undefined : ownWrites.latest(cached);
    };
    const isDue = (name: string): boolean => {
      const node = latest(name);
      return node !== undefined && withEvictionTaint(node, 0) !== undefined;
    };
    for (;;) {
      const name = this.#evictions.takeNext(zone, clock.monotonic(), isDue);
      const node = name === undefined ? undefined : latest(name);
      if (name === undefined || node === undefined) return;
      try {
        if (!(await this.#changeTaints(node, (base) => withEvictionTaint(base, clock.now()), signal))) continue;
      } catch (error) {
        this.#evictions.add(zone, name);
        throw error;
      }
      metrics.evictions.with({ zone }).inc();
      logger.info({ node: name, zone }, 'tainted a node, whose pods will be evicted');
    }
  }

  /** False if there was nothing to change, or no node any more. */
  async #changeTaints(
    node: Cached<Node>,
    plan: (node: Cached<Node>) => ReturnType<typeof withoutEvictionTaints>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client, ownWrites } = this.#options;
    let isChange = false;
    const planned = (base: Cached<Node>) => {
      const taints = plan(base);
      isChange = taints !== undefined;
      return taints === undefined ? undefined : { taints };
    };
    const written = await changeNode(client, node, planned, signal);
    if (written !== undefined) ownWrites.wrote(written);
    return isChange && written !== undefined;
  }

  /** Nodes are independent of each other: what fails for one is logged, and tried again in the next pass. */
  async #each<T>(items: readonly T[], signal: AbortSignal, task: (item: T) => Promise<void>): Promise<void> {
    await runBounded(writesAtOnce, items, async (item) => {
      try {
        await task(item);
      } catch (error) {
        if (signal.aborted) return;
        this.#options.logger.error({ err: error }, 'could not update a node, trying again in the next pass');
      }
    });
  }
}

function leaseKeyOf(nodeName: string): ObjectKey {
  return objectKey(leaseNamespace, nodeName);
}
