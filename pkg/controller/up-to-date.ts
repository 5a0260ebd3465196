import { compareResourceVersions, keyOf, metadataOf, type KubeObject } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import type { Informer } from '../../informers/index.ts';

/**
 * Whether a cache has all objects that the server has, by a live list. For decisions that a stale cache would make wrong for
 * good. Resource versions alone cannot tell: a quiet watch may stay behind for a minute without missing anything.
 */
export async function isUpToDate(
  { kind, store }: Pick<Informer<KubeObject>, 'kind' | 'store'>,
  { client, namespace }: { readonly client: Pick<Client, 'listAll'>; readonly namespace?: string | undefined },
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
