import { compareResourceVersions, type Cached, type Node } from '../../pkg/api/index.ts';
import { parseCidr, type Cidr } from '../../pkg/ip/index.ts';
import type { CidrSet } from './cidr-set.ts';

interface Held {
  readonly uid: string;
  readonly resourceVersion: string;
  /** One range for each cluster CIDR, in their order. A range outside of its cluster CIDR is not held. */
  readonly ranges: readonly (Cidr | undefined)[];
  /** Allocated here, and not yet observed on the node. */
  readonly isPending: boolean;
}

/**
 * The ranges of nodes, including allocated ones that are not written yet. All of them are marked as in use in the sets.
 */
export class NodeRanges {
  readonly #sets: readonly CidrSet[];
  readonly #held = new Map<string, Held>();

  constructor(sets: readonly CidrSet[]) {
    this.#sets = sets;
  }

  /** Holds the ranges of a node. Returns those outside of all cluster CIDRs, which no other node can get either. */
  observe({ metadata, spec }: Cached<Node>): readonly string[] {
    const { name, uid, resourceVersion } = metadata;
    const known = this.#held.get(name);
    const texts = podCidrsOf({ spec });
    if (known !== undefined) {
      const isOlder = compareResourceVersions(resourceVersion, known.resourceVersion) < 0;
      // A cache may be older than the live list at the start of this process.
      if (isOlder || (texts.length === 0 && known.uid === uid)) return [];
      this.release(name, known.uid);
    }
    if (texts.length === 0) return [];
    const parsed = texts.map(parseCidr);
    const ranges = parsed.map((range, i) => (range && this.#sets[i]?.occupy(range) === true ? range : undefined));
    this.#held.set(name, { uid, resourceVersion, ranges, isPending: false });
    return texts.filter((_, i) => ranges[i] === undefined);
  }

  /** Releases the ranges of a deleted node. Returns whether a block may have become free. */
  release(name: string, uid: string): boolean {
    const held = this.#held.get(name);
    if (held === undefined || held.uid !== uid) return false;
    this.#held.delete(name);
    for (const [i, range] of held.ranges.entries()) if (range !== undefined) this.#sets[i]?.release(range);
    return true;
  }

  /**
   * A range of each cluster CIDR for a node that has none. The node keeps them until it is deleted, so that a write
   * whose outcome is unknown is repeated with the same ranges. `nothing-left` if a cluster CIDR is exhausted.
   */
  allocate({ metadata: { name, uid, resourceVersion } }: Cached<Node>): readonly Cidr[] | 'nothing-left' {
    const known = this.#held.get(name);
    if (known?.uid === uid) return known.isPending ? known.ranges.filter((range) => range !== undefined) : [];
    const ranges: Cidr[] = [];
    for (const set of this.#sets) {
      const range = set.allocate();
      if (range === undefined) {
        for (const [i, taken] of ranges.entries()) this.#sets[i]?.release(taken);
        return 'nothing-left';
      }
      ranges.push(range);
    }
    this.#held.set(name, { uid, resourceVersion, ranges, isPending: true });
    return ranges;
  }
}

/** The API sends null for an empty list. */
export function podCidrsOf({ spec }: Pick<Cached<Node>, 'spec'>): readonly string[] {
  return spec.podCIDRs ?? [];
}
