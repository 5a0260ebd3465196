import type { Cached, Node, ObjectKey } from '../../pkg/api/index.ts';
import type { IpFamily } from '../../pkg/endpoints/index.ts';
import type { Handler } from '../../informers/index.ts';
import { isOverloaded, type ZoneShares } from './topology-hints.ts';
import { ZoneCapacity } from './zone-shares.ts';

type HintsByZone = ReadonlyMap<string, number>;

/** Which share each zone has of the cluster, and what Services have been given of it. */
export class Topology {
  readonly #capacity = new ZoneCapacity();
  readonly #hints = new Map<ObjectKey, Map<IpFamily, HintsByZone>>();
  readonly #onOverload: (service: ObjectKey) => void;
  #shares: ZoneShares | undefined;

  /** `onOverload` is told of Services whose hints no longer suit the nodes there are. */
  constructor(onOverload: (service: ObjectKey) => void) {
    this.#onOverload = onOverload;
  }

  get shares(): ZoneShares | undefined {
    return this.#shares;
  }

  get handler(): Handler<Node> {
    return {
      added: (node) => this.#replace(undefined, node),
      updated: (before, after) => this.#replace(before, after),
      deleted: (last) => this.#replace(last, undefined),
    };
  }

  /** Whether the Service has hints in every family that has been looked at. */
  hasHints(service: ObjectKey): boolean {
    return this.#hints.has(service);
  }

  setHints(service: ObjectKey, family: IpFamily, byZone: HintsByZone | undefined): void {
    const families = this.#hints.get(service) ?? new Map<IpFamily, HintsByZone>();
    if (byZone === undefined) families.delete(family);
    else families.set(family, byZone);
    if (families.size === 0) this.#hints.delete(service);
    else this.#hints.set(service, families);
  }

  forget(service: ObjectKey): void {
    this.#hints.delete(service);
  }

  #replace(before: Cached<Node> | undefined, after: Cached<Node> | undefined): void {
    if (!this.#capacity.replace(before, after)) return;
    this.#shares = this.#capacity.shares;
    for (const [service, families] of this.#hints) {
      if (families.values().some((byZone) => isOverloaded(byZone, this.#shares))) this.#onOverload(service);
    }
  }
}
