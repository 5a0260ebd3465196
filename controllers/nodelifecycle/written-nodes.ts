import { compareResourceVersions, type Cached, type Node } from '../../pkg/api/index.ts';

/** Nodes as we have written them, while the cache is yet to show it: deciding on older ones would repeat the writes. */
export class OwnWrites {
  readonly #nodes = new Map<string, Cached<Node>>();

  wrote(node: Cached<Node>): void {
    this.#nodes.set(node.metadata.name, node);
  }

  /** The newer of what the cache shows and what we know. */
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
