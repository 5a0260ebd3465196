import type { Cached, Node, ObjectKey } from '../api/index.ts';
import { objectKey } from '../api/index.ts';
import { nodeIPv4 } from './addresses.ts';
import { healthyConditions, type Machine, type WantedCondition } from './node-object.ts';

/** One simulated machine and what it knows of itself. */
export interface HollowNode {
  readonly index: number;
  readonly machine: Machine;
  /** `silent`: neither heartbeats nor work on pods, as a machine that lost its network. `gone`: its Node was deleted. */
  state: 'alive' | 'silent' | 'gone';
  /** By type. */
  readonly conditions: Map<string, WantedCondition>;
  /** As last seen in the cache. */
  node: Cached<Node> | undefined;
  /** Pods on it. */
  load: number;
  reportedAtMs: number;
  hasLease: boolean;
}

export interface FleetOptions {
  readonly nodes: number;
  readonly namePrefix: string;
  readonly zones: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly podCapacity: number;
}

/** All machines of a simulation, in order and by name. */
export class Fleet {
  readonly all: readonly HollowNode[];
  readonly #byName: ReadonlyMap<string, HollowNode>;

  constructor(options: FleetOptions) {
    this.all = Array.from({ length: options.nodes }, (_, index) => createHollowNode(index, options));
    this.#byName = new Map(this.all.map((hollow) => [hollow.machine.name, hollow]));
  }

  find(nodeName: string | undefined): HollowNode | undefined {
    return nodeName === undefined ? undefined : this.#byName.get(nodeName);
  }

  /** For callers that name a node themselves: a wrong name is their mistake. */
  get(nodeName: string): HollowNode {
    const hollow = this.#byName.get(nodeName);
    if (hollow === undefined) throw new Error(`there is no hollow node ${JSON.stringify(nodeName)}`);
    return hollow;
  }
}

export function keyOfNode(hollow: HollowNode): ObjectKey {
  return objectKey(undefined, hollow.machine.name);
}

function createHollowNode(index: number, { namePrefix, zones, labels, podCapacity }: FleetOptions): HollowNode {
  const zone = zones[index % Math.max(1, zones.length)];
  return {
    index,
    machine: { name: `${namePrefix}-${index}`, ip: nodeIPv4(index), zone, labels, podCapacity },
    state: 'alive',
    conditions: new Map(healthyConditions.map((condition) => [condition.type, condition])),
    node: undefined,
    load: 0,
    reportedAtMs: 0,
    hasLease: false,
  };
}
