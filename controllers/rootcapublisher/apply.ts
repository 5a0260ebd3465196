import { ConfigMaps, metadataOf, type ConfigMap, type Unsaved } from '../../pkg/api/index.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound, type Client } from '../../pkg/client/index.ts';

/** Creates the ConfigMap. A terminating or deleted namespace does not need it. */
export async function createConfigMap(
  client: Client,
  configMap: Unsaved<ConfigMap>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(metadataOf(ConfigMaps), configMap, signal);
  } catch (error) {
    // The ConfigMap exists but is not in the cache yet. Its event enqueues the namespace, and the sync compares it.
    if (!isNotFound(error) && !isNamespaceTerminating(error) && !isAlreadyExists(error)) throw error;
  }
}

export async function updateConfigMap(
  client: Client,
  configMap: Unsaved<ConfigMap>,
  signal: AbortSignal,
): Promise<void> {
  await client.update(metadataOf(ConfigMaps), configMap, signal);
}
