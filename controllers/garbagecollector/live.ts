import {
  apiVersionOf,
  metadataOf,
  objectKey,
  type Cached,
  type Kind,
  type MetadataOnly,
  type ObjectKey,
  type StoredMeta,
} from '../../pkg/api/index.ts';
import { apiErrorOf, isNotFound, type Client, type DiscoveredResource } from '../../pkg/client/index.ts';
import type { Identity } from './identity.ts';

/** The kinds that discovery last listed. */
export class KnownKinds {
  #byName: ReadonlyMap<string, Kind> = new Map();

  replace(resources: readonly DiscoveredResource[]): void {
    const byName = new Map<string, Kind>();
    for (const { kind } of resources) {
      const name = `${apiVersionOf(kind)} ${kind.kind}`;
      if (!byName.has(name)) byName.set(name, kind); // if two resources have the same kind, the first is used
    }
    this.#byName = byName;
  }

  find({ apiVersion, kind }: Pick<Identity, 'apiVersion' | 'kind'>): Kind | undefined {
    return this.#byName.get(`${apiVersion} ${kind}`);
  }

  /** Throws an `UnknownKindError`. */
  get(identity: Pick<Identity, 'apiVersion' | 'kind'>): Kind {
    const kind = this.find(identity);
    if (kind === undefined) throw new UnknownKindError(identity);
    return kind;
  }
}

/** The API server does not serve this kind, perhaps only at the moment. Its objects cannot be read. */
export class UnknownKindError extends Error {
  override readonly name = 'UnknownKindError';
  readonly reason = 'UnknownKind';

  constructor({ apiVersion, kind }: Pick<Identity, 'apiVersion' | 'kind'>) {
    super(`the server has no kind ${kind} of ${apiVersion}`);
  }
}

export function placeOf(kind: Kind, { namespace, name }: Pick<Identity, 'namespace' | 'name'>): ObjectKey {
  return objectKey(kind.namespaced ? namespace : undefined, name);
}

/** The live object; undefined if no object with that uid exists. */
export async function readLive(
  client: Client,
  kind: Kind,
  identity: Pick<Identity, 'namespace' | 'name' | 'uid'>,
  signal: AbortSignal,
): Promise<Cached<StoredMeta> | undefined> {
  try {
    const { metadata }: MetadataOnly = await client.get(metadataOf(kind), placeOf(kind, identity), signal);
    return metadata.uid === identity.uid ? metadata : undefined; // another object has the name
  } catch (error) {
    if (await isAbsent({ client, kind, identity }, error, signal)) return undefined;
    throw error;
  }
}

/**
 * Whether an error means that the object does not exist. A 404 that does not name the object may only mean that the path
 * is not served, for example while a definition is reinstalled or an extension server is down. The objects still exist
 * then, and all that they own would be deleted. But some extension servers never name the object. So if the collection
 * can be listed and the object is still not found, it does not exist.
 */
export async function isAbsent(
  { client, kind, identity }: Place,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isNotFound(error)) return false;
  if (apiErrorOf(error)?.details?.name === identity.name) return true;
  const namespace = kind.namespaced ? identity.namespace : undefined;
  try {
    await client.list(metadataOf(kind), { namespace, limit: 1 }, signal);
  } catch (listError) {
    if (isNotFound(listError)) return false;
    throw listError;
  }
  try {
    const { metadata } = await client.get(metadataOf(kind), placeOf(kind, identity), signal);
    return metadata.uid !== identity.uid;
  } catch (getError) {
    if (isNotFound(getError)) return true;
    throw getError;
  }
}

/** An object, and how to read it. */
export interface Place {
  readonly client: Client;
  readonly kind: Kind;
  readonly identity: Pick<Identity, 'namespace' | 'name' | 'uid'>;
}
