import { compareResourceVersions, type Cached, type Node } from '../../pkg/api/index.ts';

/** Own writes to nodes that the cache has not observed yet. Decisions on a stale cache would repeat the writes. */
export class WrittenNodes {
  readonly #nodes = new Map<string, Cached<Node>>();

  wrote(node: Cached<Node>): void {
    this.#nodes.set(node.metadata.name, node);
  }

  /** The newer of the cached node and the node as last written. */
  latest(cached: Cached<Node>): Cached<Node> {
    const { name, uid, resourceVersion } = cached.metadata;
    const own = this.#nodes.get(name);
    if (own === undefined) return cached;
    const isNewer = compareResourceVersions(own.metadata.resourceVersion, resourceVersion) > 0;
    if (own.metadata.uid === uid && isNewer) return own;
    this.#nodes.delete(name);
    return cached;
  }

  forget(name: string): void {
    this.#nodes.delete(name);
  }
}
