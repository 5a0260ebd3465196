import { ConfigMaps, metadataOf, type ConfigMap, type Unsaved } from '../../pkg/api/index.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound, type Client } from '../../pkg/client/index.ts';

/** Creates the ConfigMap. Nobody needs it in a namespace that is terminating or gone. */
export async function createConfigMap(
  client: Client,
  configMap: Unsaved<ConfigMap>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(metadataOf(ConfigMaps), configMap, signal);
  } catch (error) {
    // It exists already: the event that adds it to the cache leads to a comparison of its content.
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
