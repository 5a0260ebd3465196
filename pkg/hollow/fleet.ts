import type { Cached, Node, ObjectKey, Pod } from '../api/index.ts';
import { objectKey } from '../api/index.ts';
import { nodeIPv4 } from './addresses.ts';
import { healthyConditions, type Machine, type WantedCondition } from './node-object.ts';

/** One simulated machine and its state. */
export interface HollowNode {
  readonly index: number;
  readonly machine: Machine;
  /**
   * `silent`: no heartbeats and no work on pods, like a machine without network. `stopping`: switched off, and its last
   * report is due. `off`: like `silent`, until it is switched on. `gone`: its Node was deleted.
   */
  state: 'alive' | 'silent' | 'stopping' | 'off' | 'gone';
  /** The node conditions by type. */
  readonly conditions: Map<string, WantedCondition>;
  /** The Node in the cache. */
  node: Cached<Node> | undefined;
  /** The number of pods on the node. */
  load: number;
  readonly neighbours: { readonly pods: Map<string, Cached<Pod>>; readonly repelling: Map<string, Cached<Pod>> };
  reportedAtMs: number;
  hasLease: boolean;
}

export interface FleetOptions {
  readonly nodes: number;
  readonly namePrefix: string;
  readonly zones: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly podCapacity: number;
  readonly isUninitialised?: boolean | undefined;
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

  /** Throws `UnknownNodeError` if there is no node of that name. */
  get(nodeName: string): HollowNode {
    const hollow = this.#byName.get(nodeName);
    if (hollow === undefined) throw new UnknownNodeError(`there is no hollow node ${JSON.stringify(nodeName)}`);
    return hollow;
  }
}

export function keyOfNode(hollow: HollowNode): ObjectKey {
  return objectKey(undefined, hollow.machine.name);
}

function createHollowNode(index: number, { namePrefix, zones, ...rest }: FleetOptions): HollowNode {
  const zone = zones[index % Math.max(1, zones.length)];
  return {
    index,
    machine: { name: `${namePrefix}-${index}`, ip: nodeIPv4(index), zone, ...rest },
    state: 'alive',
    conditions: new Map(healthyConditions.map((condition) => [condition.type, condition])),
    node: undefined,
    load: 0,
    neighbours: { pods: new Map(), repelling: new Map() },
    reportedAtMs: 0,
    hasLease: false,
  };
}

/** No simulated node has this name. */
class UnknownNodeError extends Error {
  override readonly name = 'UnknownNodeError';
  readonly reason = 'UnknownNode';
}
