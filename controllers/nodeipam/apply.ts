import { keyOf, metadataOf, Nodes, type Cached, type Node } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { Cidr } from '../../pkg/ip/index.ts';

/** Sets the pod CIDRs of a node. The server refuses to change them once they are set. */
export async function assignRanges(
  client: Client,
  { metadata }: Cached<Node>,
  ranges: readonly Cidr[],
  signal: AbortSignal,
): Promise<void> {
  const podCIDRs = ranges.map(({ text }) => text);
  // The uid makes the server refuse the write if another node has the name now: it gets ranges of its own.
  const body = { metadata: { uid: metadata.uid }, spec: { podCIDR: podCIDRs[0], podCIDRs } };
  try {
    await client.patch(metadataOf(Nodes), keyOf({ metadata }), { type: 'strategic', body }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
