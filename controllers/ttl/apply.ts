import { keyOf, metadataOf, Nodes, type Cached, type Node } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';

export const ttlAnnotation = 'node.alpha.kubernetes.io/ttl';

/** Sets the annotation that tells the kubelet for how many seconds it may cache Secrets and ConfigMaps. */
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
