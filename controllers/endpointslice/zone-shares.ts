import { isConditionTrue, ownValue, type Cached, type Node } from '../../pkg/api/index.ts';
import { milliValue } from '../../pkg/quantities/index.ts';
import type { ZoneShares } from './topology-hints.ts';

const zoneLabel = 'topology.kubernetes.io/zone';
const excludingLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

/** What a node adds to its zone; undefined for nodes that take no traffic to speak of. */
interface Contribution {
  readonly zone: string;
  readonly milliCpu: number;
}

/** Keeps the share of the processors that each zone has, node by node: a heartbeat costs a comparison. */
export class ZoneCapacity {
  readonly #milliCpuByZone = new Map<string, number>();
  readonly #nodesByZone = new Map<string, number>();
  /** Nodes that do not say where they are or what they have: with one of them no share is known. */
  #incomplete = 0;

  /** Takes a change of one node in; false if it changes nothing here. */
  replace(before: Cached<Node> | undefined, after: Cached<Node> | undefined): boolean {
    const [old, next] = [contributionOf(before), contributionOf(after)];
    if (old?.zone === next?.zone && old?.milliCpu === next?.milliCpu) return false;
    if (old !== undefined) this.#add(old, -1);
    if (next !== undefined) this.#add(next, 1);
    return true;
  }

  /** Undefined where there is nothing to share between: fewer than two zones, or nodes that say too little. */
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
