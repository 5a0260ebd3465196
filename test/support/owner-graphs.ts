import type { Random } from '../../pkg/time/index.ts';

export type DeletionMode = 'Background' | 'Foreground' | 'Orphan';

/** One object of a random graph, with its references. */
export interface PlannedObject {
  /** The number of its kind. */
  readonly kind: number;
  readonly owners: readonly PlannedOwner[];
}

export interface PlannedOwner {
  /** The index of the owner; undefined if the owner does not exist. */
  readonly object: number | undefined;
  readonly blocks: boolean;
}

export interface GraphOptions {
  readonly objects: number;
  /** The number of kinds. */
  readonly kinds: number;
  /** Objects of this kind are cluster-scoped: they own, but have no owners. The others are namespaced. */
  readonly clusterWideKind?: number | undefined;
  /** Default true. */
  readonly circles?: boolean | undefined;
}

/** Chains, diamonds, cycles, objects that own themselves, owners that do not exist; all from one seed. */
export function planGraph(random: Random, options: GraphOptions): PlannedObject[] {
  const { objects, kinds, clusterWideKind, circles = true } = options;
  const below = (limit: number): number => Math.floor(random() * limit);
  return Array.from({ length: objects }, (_, index) => {
    const kind = below(kinds);
    if (kind === clusterWideKind || random() < 0.15) return { kind, owners: [] };
    const owners = new Map<number | undefined, PlannedOwner>();
    for (let count = 1 + below(3); count > 0; count--) {
      const chance = random();
      const nearby = Math.max(0, index - 1 - below(8));
      const anywhere = below(circles ? objects : Math.max(1, index));
      const object = chance < 0.03 ? undefined : chance < 0.15 ? anywhere : nearby;
      if (circles || object !== index) owners.set(object, { object, blocks: random() < 0.6 });
    }
    return { kind, owners: [...owners.values()] };
  });
}

/**
 * The result of garbage collection by its rules. An object is deleted when it had owners and all of them are deleted.
 * While one owner is left, references to the others are removed. Orphaning only removes references. Foreground and
 * background deletion have the same result.
 */
export class OwnershipModel {
  readonly #owners: Map<number, Set<number | undefined>>;

  constructor(graph: readonly PlannedObject[]) {
    this.#owners = new Map(graph.map(({ owners }, index) => [index, new Set(owners.map(({ object }) => object))]));
    this.#collect();
  }

  /** The remaining objects, each with its remaining owners. */
  get survivors(): ReadonlyMap<number, ReadonlySet<number | undefined>> {
    return this.#owners;
  }

  delete(object: number, mode: DeletionMode): void {
    this.#owners.delete(object);
    if (mode === 'Orphan') for (const owners of this.#owners.values()) owners.delete(object);
    this.#collect();
  }

  #collect(): void {
    while ([...this.#owners].some(([object, owners]) => this.#collectObject(object, owners)));
  }

  /** Whether that has changed something. */
  #collectObject(object: number, owners: Set<number | undefined>): boolean {
    const lost = [...owners].filter((owner) => owner === undefined || !this.#owners.has(owner));
    if (lost.length === 0) return false;
    if (lost.length === owners.size) this.#owners.delete(object);
    else for (const owner of lost) owners.delete(owner);
    return true;
  }
}
