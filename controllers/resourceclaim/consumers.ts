import {
  objectKey,
  PodGroups,
  Pods,
  metadataOf,
  type Cached,
  type ResourceClaim,
  type ResourceClaimConsumer,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import { isGroupConsumer, isPodConsumer } from '../../pkg/resourceclaims/index.ts';
import type { Caches } from './caches.ts';
import { isPodDone } from './pod-state.ts';

interface ConsumerDeps {
  readonly caches: Caches;
  readonly deletedUids: { has(uid: string): boolean };
}

/** `unknown`: not in the cache, and its deletion was not observed. It may be a new one. */
type ConsumerState = 'present' | 'gone' | 'unknown';

export function stateOfConsumer(
  consumer: Cached<ResourceClaimConsumer>,
  namespace: string | undefined,
  { caches: { pods, groups }, deletedUids }: ConsumerDeps,
): ConsumerState {
  const { name, uid } = consumer;
  const key = objectKey(namespace, name);
  const isOfPod = isPodConsumer(consumer);
  const isOfGroup = groups !== undefined && isGroupConsumer(consumer);
  if (!isOfPod && !isOfGroup) return 'present'; // others remove those of kinds that this controller does not know
  if (deletedUids.has(uid)) return 'gone';
  const pod = isOfPod ? pods.store.get(key) : undefined;
  const found = pod ?? (isOfGroup ? groups.store.get(key) : undefined);
  if (found === undefined) return 'unknown';
  if (found.metadata.uid !== uid) return 'gone';
  return pod !== undefined && isPodDone(pod) ? 'gone' : 'present';
}

/**
 * The uids of the unknown consumers that the server does not have. The cache may lag behind the scheduler: without this
 * question, a claim could be taken from a pod that has just been created.
 */
export async function findAbsentConsumers(
  { metadata: { namespace }, status }: Cached<ResourceClaim>,
  deps: ConsumerDeps & { readonly client: Client },
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const absent = new Set<string>();
  const unknown = (status?.reservedFor ?? []).filter(
    (consumer) => stateOfConsumer(consumer, namespace, deps) === 'unknown',
  );
  for (const consumer of unknown) {
    const kind = metadataOf(isPodConsumer(consumer) ? Pods : PodGroups);
    try {
      const { metadata } = await deps.client.get(kind, objectKey(namespace, consumer.name), signal);
      if (metadata.uid !== consumer.uid) absent.add(consumer.uid);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      absent.add(consumer.uid);
    }
  }
  return absent;
}
