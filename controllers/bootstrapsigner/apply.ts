import { ConfigMaps, copyOf, keyOf, type Cached, type ConfigMap } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly pending: PendingWrites<ConfigMap>;
}

/** Replaces the data of the ConfigMap. */
export async function applySignedData(
  configMap: Cached<ConfigMap>,
  data: Readonly<Record<string, string>>,
  { client, pending }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { metadata } = await client.update(ConfigMaps, copyOf<ConfigMap>({ ...configMap, data }), signal);
    pending.wrote(keyOf(configMap), metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
