import { objectKey, type Cached, type Node, type Pod } from '../../pkg/api/index.ts';
import type { Store } from '../../informers/index.ts';

/** The nodes of these pods, by name, as far as the cache has them. */
export function nodesOf(
  pods: readonly Cached<Pod>[],
  nodes: Pick<Store<Node>, 'get'>,
): ReadonlyMap<string, Cached<Node>> {
  const found = new Map<string, Cached<Node>>();
  for (const { nodeName = '' } of pods.map(({ spec }) => spec)) {
    const node = found.has(nodeName) ? undefined : nodes.get(objectKey(undefined, nodeName));
    if (node !== undefined) found.set(nodeName, node);
  }
  return found;
}
