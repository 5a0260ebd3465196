import { objectKey, type Cached, type Node } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { Store } from '../../informers/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { changeNode, updateEach } from './apply.ts';
import { EvictionQueue } from './eviction-queue.ts';
import type { CheckedNode } from './health.ts';
import type { NodeMetrics } from './metrics.ts';
import { planEvictionStep, withEvictionTaint, withoutEvictionTaints, type EvictionStep } from './node-taints.ts';
import type { WrittenNodes } from './written-nodes.ts';

export interface NodeEvictionsDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: NodeMetrics;
  readonly nodes: Pick<Store<Node>, 'get'>;
  readonly written: WrittenNodes;
}

/** Adds and removes the NoExecute taints that evict the pods of a node. */
export class NodeEvictions {
  /** The nodes that wait for their taint. */
  readonly queue = new EvictionQueue();
  readonly #deps: NodeEvictionsDeps;

  constructor(deps: NodeEvictionsDeps) {
    this.#deps = deps;
  }

  /** Queues the nodes that need a taint. Changes or removes taints that no longer match the node's condition. */
  async update(
    nodes: readonly CheckedNode[],
    { isFullDisruption }: { readonly isFullDisruption: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, logger } = this.#deps;
    const writes: { readonly node: Cached<Node>; readonly step: EvictionStep }[] = [];
    for (const { node, health, zone, isNew } of nodes) {
      const step = planEvictionStep(node, { ready: health.ready, isNew, isFullDisruption });
      if (step === 'queue' || step === 'clear-and-queue') this.queue.add(zone, node.metadata.name);
      else this.queue.remove(node.metadata.name);
      if (step !== 'none' && step !== 'queue') writes.push({ node, step });
    }
    const write = async ({ node, step }: (typeof writes)[number]): Promise<void> => {
      const taints = (base: Cached<Node>) =>
        step === 'exchange' ? withEvictionTaint(base, clock.now()) : withoutEvictionTaints(base);
      await this.#changeTaints(node, taints, signal);
    };
    await updateEach(writes, logger, write, signal);
  }

  /** Taints the next nodes of every zone, as far as the zone's rate allows. */
  async taintNext(signal: AbortSignal): Promise<void> {
    await Promise.all(this.queue.busyZones().map((zone) => this.#taintNextOf(zone, signal)));
  }

  async #taintNextOf(zone: string, signal: AbortSignal): Promise<void> {
    const { clock, metrics, logger } = this.#deps;
    const isDue = (name: string): boolean => {
      const node = this.#latest(name);
      return node !== undefined && withEvictionTaint(node, 0) !== undefined;
    };
    for (;;) {
      const name = this.queue.takeNext(zone, clock.monotonic(), isDue);
      const node = name === undefined ? undefined : this.#latest(name);
      if (name === undefined || node === undefined) return;
      try {
        if (!(await this.#changeTaints(node, (base) => withEvictionTaint(base, clock.now()), signal))) continue;
      } catch (error) {
        this.queue.add(zone, name);
        throw error;
      }
      metrics.evictions.with({ zone }).inc();
      logger.info({ node: name, zone }, 'added NoExecute taint to node');
    }
  }

  #latest(name: string): Cached<Node> | undefined {
    const cached = this.#deps.nodes.get(objectKey(undefined, name));
    return cached === undefined ? undefined : this.#deps.written.latest(cached);
  }

  /** False if the taints were already right, or the node is gone. */
  async #changeTaints(
    node: Cached<Node>,
    plan: (node: Cached<Node>) => ReturnType<typeof withoutEvictionTaints>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client, written } = this.#deps;
    let isChange = false;
    const planChange = (base: Cached<Node>) => {
      const taints = plan(base);
      isChange = taints !== undefined;
      return taints === undefined ? undefined : { taints };
    };
    const changed = await changeNode(client, node, planChange, signal);
    if (changed !== undefined) written.wrote(changed);
    return isChange && changed !== undefined;
  }
}
