import type { Kind } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { createResourceClient, type ResourceClient } from '../operator/index.ts';

/** The client of a test, in the role of the user. It creates objects of the builders, which look as if they were stored. */
export function createUserClient(client: Client, signal: AbortSignal): ResourceClient {
  const user = createResourceClient(client, { signal, fieldManager: 'test' });
  const create: ResourceClient['create'] = <K extends Kind>(kind: K, object: Parameters<typeof user.create<K>>[1]) =>
    user.create<K>(kind, unstored(object));
  return { ...user, create };
}

/** Without what the server sets, and refuses in a new object. */
function unstored<T extends { readonly metadata: object }>(object: T): T {
  const set = new Set(['uid', 'resourceVersion', 'generation', 'creationTimestamp']);
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([field]) => !set.has(field)));
  return { ...object, metadata };
}
