import { isConditionTrue, ownValue, type Cached, type Node } from '../../pkg/api/index.ts';
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
  return { zone: labels[zoneLabel] ?? '', milliCpu: parseMilliCpu(node.status?.allocatable?.['cpu'] ?? '') };
}

/** Thousandths of a processor in a quantity such as `4`, `3920m`, `1.5` or `2k`; 0 for what is none. */
export function parseMilliCpu(quantity: string): number {
  const match = /^([0-9]*\.?[0-9]*)(?:e([+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)$/i.exec(quantity);
  const number = Number(match?.[1] === '' || match?.[1] === '.' ? Number.NaN : match?.[1]);
  if (match === null || Number.isNaN(number)) return 0;
  const factor = match[2] === undefined ? (suffixes[match[3] ?? ''] ?? 0) : 10 ** Number(match[2]);
  return Math.ceil(Math.round(number * factor * 1e12) / 1e9);
}

const suffixes: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
