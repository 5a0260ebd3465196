import { Nodes, objectKey, type Node } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { Store } from '../../informers/index.ts';
import type { NodeRanges } from './node-ranges.ts';

interface LiveListDeps {
  readonly client: Client;
  readonly nodes: Pick<Store<Node>, 'get' | 'hasSeen'>;
  readonly ranges: NodeRanges;
}

/**
 * Holds the ranges of all live nodes, once. The first list of a cache may be older than the last writes of the previous
 * leader, so one of its ranges could be allocated to a second node. After a failure the next call tries again.
 */
export function createLiveList({ client, nodes, ranges }: LiveListDeps): (signal: AbortSignal) => Promise<void> {
  async function hold(signal: AbortSignal): Promise<void> {
    const { items, metadata } = await client.listAll(Nodes, {}, signal);
    const isCacheNewer = nodes.hasSeen(metadata.resourceVersion ?? '');
    // A node may be deleted during the list: its deletion has been observed already.
    const isGone = ({ metadata: { name } }: Node): boolean =>
      isCacheNewer && nodes.get(objectKey(undefined, name)) === undefined;
    for (const node of items) if (!isGone(node)) ranges.observe(node);
  }

  let held: Promise<void> | undefined;
  return (signal) => {
    held ??= hold(signal).catch((error: unknown) => {
      held = undefined;
      throw error;
    });
    return held;
  };
}
