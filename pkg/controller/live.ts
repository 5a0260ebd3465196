import type { Kind, KubeObject, ObjectKey } from '../api/index.ts';
import { isInvalidName, isNotFound, type Client } from '../client/index.ts';

/** The object on the server; undefined if there is none, also because no object can have such a name. */
export async function findLive<T extends KubeObject>(
  client: Pick<Client, 'get'>,
  kind: Kind<T>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.get(kind, key, signal);
  } catch (error) {
    if (isNotFound(error) || isInvalidName(error)) return undefined;
    throw error;
  }
}
