import type { Cached, Node, ObjectKey } from '../../pkg/api/index.ts';
import type { IpFamily } from '../../pkg/ip/index.ts';
import type { Handler } from '../../informers/index.ts';
import { isOverloaded, type ZoneShares } from './topology-hints.ts';
import { ZoneCapacity } from './zone-shares.ts';

type HintsByZone = ReadonlyMap<string, number>;

/** The share of each zone in the cluster, and the hints of each Service. */
export class Topology {
  readonly #capacity = new ZoneCapacity();
  readonly #hints = new Map<ObjectKey, Map<IpFamily, HintsByZone>>();
  readonly #onOverload: (service: ObjectKey) => void;
  #shares: ZoneShares | undefined;

  /** `onOverload` is called with Services whose hints would overload a zone after a change of nodes. */
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

  /** The address families in which the Service has hints. */
  hintedFamilies(service: ObjectKey): ReadonlySet<IpFamily> {
    return new Set(this.#hints.get(service)?.keys());
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
