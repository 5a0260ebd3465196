import { isConditionTrue, ownValue, type Cached, type Node } from '../../pkg/api/index.ts';
import { milliValue } from '../../pkg/quantities/index.ts';
import type { ZoneShares } from './topology-hints.ts';

const zoneLabel = 'topology.kubernetes.io/zone';
const excludingLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

/** The capacity that a node adds to its zone; undefined for nodes that do not count. */
interface Contribution {
  readonly zone: string;
  readonly milliCpu: number;
}

/** The share of each zone in the cluster's CPUs, updated per node: a heartbeat costs one comparison. */
export class ZoneCapacity {
  readonly #milliCpuByZone = new Map<string, number>();
  readonly #nodesByZone = new Map<string, number>();
  /** Nodes without a zone or allocatable CPU. With one of them, the shares are unknown. */
  #incomplete = 0;

  /** Applies the change of one node. False if the shares do not change. */
  replace(before: Cached<Node> | undefined, after: Cached<Node> | undefined): boolean {
    const [old, next] = [contributionOf(before), contributionOf(after)];
    if (old?.zone === next?.zone && old?.milliCpu === next?.milliCpu) return false;
    if (old !== undefined) this.#add(old, -1);
    if (next !== undefined) this.#add(next, 1);
    return true;
  }

  /** Undefined with fewer than two zones, or with incomplete nodes. */
  get shares(): ZoneShares | undefined {
    if (this.#incomplete > 0 || this.#milliCpuByZone.size < 2) return undefined;
    const total = this.#milliCpuByZone.values().reduce((sum, milliCpu) => sum + milliCpu, 0);
    return new Map(this.#milliCpuByZone.entries().map(([zone, milliCpu]) => [zone, milliCpu / total]));
  }

  #add({ zone, milliCpu }: Contribution, sign: 1 | -1): void {
    if (zone === '' || milliCpu === 0) {
      this.#incomplete += sign;
      return;
    }
    const nodes = (this.#nodesByZone.get(zone) ?? 0) + sign;
    if (nodes === 0) {
      this.#nodesByZone.delete(zone);
      this.#milliCpuByZone.delete(zone);
    } else {
      this.#nodesByZone.set(zone, nodes);
      this.#milliCpuByZone.set(zone, (this.#milliCpuByZone.get(zone) ?? 0) + sign * milliCpu);
    }
  }
}

function contributionOf(node: Cached<Node> | undefined): Contribution | undefined {
  if (node === undefined) return undefined;
  const { labels = {} } = node.metadata;
  if (excludingLabels.some((label) => ownValue(labels, label) !== undefined)) return undefined;
  if (!isConditionTrue(node.status?.conditions, 'Ready')) return undefined;
  return { zone: labels[zoneLabel] ?? '', milliCpu: milliValue(node.status?.allocatable?.['cpu'] ?? '') ?? 0 };
}
