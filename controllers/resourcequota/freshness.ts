import { compareResourceVersions, keyOf, metadataOf, type KubeObject } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { Informer } from '../../informers/index.ts';

/**
 * Whether a cache has all objects of a namespace that the server has. The resource version of a charge cannot tell: the
 * object that is charged is stored after it, and a quiet watch may stay behind it for a minute without missing anything.
 */
export async function isUpToDate(
  { kind, store }: Pick<Informer<KubeObject>, 'kind' | 'store'>,
  { client, namespace }: { readonly client: Pick<Client, 'listAll'>; readonly namespace: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { items, metadata } = await client.listAll(metadataOf(kind), { namespace }, signal);
  if (store.hasSeen(metadata.resourceVersion ?? '')) return true;
  return items.every((item) => {
    const cached = store.get(keyOf(item))?.metadata;
    const isSame = cached !== undefined && cached.uid === item.metadata.uid;
    return isSame && compareResourceVersions(cached.resourceVersion, item.metadata.resourceVersion) >= 0;
  });
}
