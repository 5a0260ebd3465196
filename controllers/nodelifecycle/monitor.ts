import { objectKey, type Cached, type Lease, type Node, type ObjectKey } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { Store } from '../../informers/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { forEachInTurns, type Clock } from '../../pkg/time/index.ts';
import { changeConditions, updateEach } from './apply.ts';
import { NodeEvictions } from './apply-evictions.ts';
import { afterChanges, judgeHealth, type CheckedNode, type HealthOptions, type NodeHealth } from './health.ts';
import type { NodeMetrics } from './metrics.ts';
import type { WrittenNodes } from './written-nodes.ts';
import { ZoneStates } from './zone-states.ts';
import { zoneOf, type ZoneOptions } from './zones.ts';

export const leaseNamespace = 'kube-node-lease';

export interface MonitorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: NodeMetrics;
  readonly nodes: Pick<Store<Node>, 'get' | 'list'>;
  readonly leases: Pick<Store<Lease>, 'get'>;
  readonly written: WrittenNodes;
  readonly health: HealthOptions;
  readonly zones: ZoneOptions;
  readonly observer: NodeObserver;
}

/** Called by the monitor. */
export interface NodeObserver {
  registered(node: Cached<Node>): void;
  removed(name: string, uid: string): void;
  /**
   * The Ready condition of the node is Unknown. `isNew`: the monitor has just set it. Otherwise an earlier process may
   * have set it and stopped before it marked the pods.
   */
  unreachable(node: Cached<Node>, isNew: boolean): void;
}

/** Monitors the health of all nodes and of their zones. */
export class Monitor {
  readonly #options: MonitorOptions;
  readonly #health = new Map<string, NodeHealth>();
  readonly #zones: ZoneStates;
  readonly #evictions: NodeEvictions;
  /** Nodes deleted since the last check. */
  readonly #deleted = new Set<string>();

  constructor(options: MonitorOptions) {
    this.#options = options;
    this.#evictions = new NodeEvictions(options);
    const { logger, metrics, zones } = options;
    this.#zones = new ZoneStates(zones, { logger, metrics, evictions: this.#evictions.queue });
  }

  /** The status of the node's Ready condition, including an own write that the cache has not observed yet. */
  readinessOf(nodeName: string): string | undefined {
    return this.#health.get(nodeName)?.ready;
  }

  nodeDeleted(name: string): void {
    this.#deleted.add(name);
  }

  /** Checks every node, then every zone. Nodes are tainted only after the state of all zones is known. */
  async checkNodes(signal: AbortSignal): Promise<void> {
    const { clock, logger, metrics, nodes } = this.#options;
    const startMs = clock.monotonic();
    this.#forgetDeleted();
    const all: CheckedNode[] = [];
    const unreachable: CheckedNode[] = [];
    await forEachInTurns(nodes.list(), clock, (cached) => {
      const { checked, isUnreachable } = this.#check(cached);
      all.push(checked);
      if (isUnreachable) unreachable.push(checked);
    });
    await updateEach(unreachable, logger, (checked) => this.#writeUnknown(checked, signal), signal);
    const transition = this.#zones.update(all, clock.monotonic());
    if (transition === 'recovered') this.#restartGracePeriods();
    await this.#evictions.update(all, { isFullDisruption: transition === 'full-disruption' }, signal);
    metrics.allNodesDuration.observe((clock.monotonic() - startMs) / 1000);
  }

  /** Taints the next nodes of every zone, as far as the zone's rate allows. */
  async taintNext(signal: AbortSignal): Promise<void> {
    await this.#evictions.taintNext(signal);
  }

  #check(cached: Cached<Node>): { readonly checked: CheckedNode; readonly isUnreachable: boolean } {
    const { clock, metrics, leases, health: options, written, observer } = this.#options;
    const nowMs = clock.monotonic();
    const node = written.latest(cached);
    const { name } = node.metadata;
    const previous = this.#health.get(name);
    const lease = leases.get(leaseKeyOf(name));
    const { health, changes } = judgeHealth({ node, lease, previous, options, nowMs, wallMs: clock.now() });
    this.#health.set(name, health);
    const isNew = previous === undefined;
    if (isNew) {
      observer.registered(node);
      if (health.ready === 'Unknown') observer.unreachable(node, false);
    }
    const isUnreachable = changes.length > 0;
    // The answer to our own write was lost: the observer has not been called yet.
    if (!isUnreachable && previous?.ready === 'True' && health.ready === 'Unknown') observer.unreachable(node, true);
    if (!isUnreachable) metrics.nodeDuration.observe((clock.monotonic() - nowMs) / 1000);
    return { checked: { node, health, zone: zoneOf(node), isNew }, isUnreachable };
  }

  /** Sets the conditions of a node that stopped reporting to Unknown. */
  async #writeUnknown(checked: CheckedNode, signal: AbortSignal): Promise<void> {
    const { client, clock, metrics, leases, health: options, written, observer } = this.#options;
    const startMs = clock.monotonic();
    const { name } = checked.node.metadata;
    const previous = checked.health;
    let health = previous;
    // After a conflict, this runs again on the live node: the kubelet may have reported meanwhile.
    const plan = (node: Cached<Node>) => {
      const lease = leases.get(leaseKeyOf(name));
      const times = { nowMs: clock.monotonic(), wallMs: clock.now() };
      const verdict = judgeHealth({ node, lease, previous, options, ...times });
      health = afterChanges(verdict.health, verdict.changes);
      return verdict.changes;
    };
    const node = await changeConditions(client, checked.node, plan, signal);
    metrics.nodeDuration.observe((clock.monotonic() - startMs) / 1000);
    if (node === undefined) return;
    written.wrote(node);
    this.#health.set(name, health);
    checked.node = node;
    checked.health = health;
    if (previous.ready === 'True' && health.ready !== 'True') observer.unreachable(node, true);
  }

  #forgetDeleted(): void {
    const { nodes, written, observer } = this.#options;
    for (const name of this.#deleted) {
      if (nodes.get(objectKey(undefined, name)) !== undefined) continue; // recreated meanwhile
      const known = this.#health.get(name);
      if (known !== undefined) observer.removed(name, known.uid);
      this.#health.delete(name);
      this.#evictions.queue.remove(name);
      written.forget(name);
    }
    this.#deleted.clear();
  }

  /** After a full disruption, every node gets a new grace period: heartbeats may not have reached us. */
  #restartGracePeriods(): void {
    const nowMs = this.#options.clock.monotonic();
    for (const [name, health] of this.#health) this.#health.set(name, { ...health, aliveMs: nowMs });
  }
}

function leaseKeyOf(nodeName: string): ObjectKey {
  return objectKey(leaseNamespace, nodeName);
}
