import { keyOf, metadataOf, Nodes, type Cached, type Node } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';

export const ttlAnnotation = 'node.alpha.kubernetes.io/ttl';

/** Tells the kubelet of the node for how many seconds it may keep Secrets and ConfigMaps. */
export async function annotateTtl(
  client: Client,
  { metadata }: Cached<Node>,
  ttl: string,
  signal: AbortSignal,
): Promise<void> {
  const body = { metadata: { uid: metadata.uid, annotations: { [ttlAnnotation]: ttl } } };
  try {
    await client.patch(metadataOf(Nodes), keyOf({ metadata }), { type: 'strategic', body }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
