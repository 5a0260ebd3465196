import type { Cached, Node, ObjectKey } from '../api/index.ts';
import { objectKey } from '../api/index.ts';
import { nodeIPv4 } from './addresses.ts';
import { healthyConditions, type Machine, type WantedCondition } from './node-object.ts';

/** One simulated machine and its state. */
export interface HollowNode {
  readonly index: number;
  readonly machine: Machine;
  /** `silent`: no heartbeats and no work on pods, like a machine without network. `gone`: its Node was deleted. */
  state: 'alive' | 'silent' | 'gone';
  /** The node conditions by type. */
  readonly conditions: Map<string, WantedCondition>;
  /** The Node in the cache. */
  node: Cached<Node> | undefined;
  /** The number of pods on the node. */
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

/** All machines of a simulation. */
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

  /** Throws if there is no node of that name. */
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
