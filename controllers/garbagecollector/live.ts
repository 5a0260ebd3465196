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
import { ApiError, isNotFound, type Client, type DiscoveredResource } from '../../pkg/client/index.ts';
import type { Identity } from './identity.ts';

/** Where the objects of each kind live, as discovery last told. */
export class KnownKinds {
  #byName: ReadonlyMap<string, Kind> = new Map();

  replace(resources: readonly DiscoveredResource[]): void {
    const byName = new Map<string, Kind>();
    for (const { kind } of resources) {
      const name = `${apiVersionOf(kind)} ${kind.kind}`;
      if (!byName.has(name)) byName.set(name, kind); // of two resources of one kind, the first is meant
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

/** The server does not serve this kind: not yet, not at the moment, or never. Its objects cannot be asked for. */
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

/** The object as the server has it now; undefined if it has none of that uid. */
export async function readLive(
  client: Client,
  kind: Kind,
  identity: Pick<Identity, 'namespace' | 'name' | 'uid'>,
  signal: AbortSignal,
): Promise<Cached<StoredMeta> | undefined> {
  try {
    const { metadata }: MetadataOnly = await client.get(metadataOf(kind), placeOf(kind, identity), signal);
    return metadata.uid === identity.uid ? metadata : undefined; // another one took its name since
  } catch (error) {
    if (await isAbsent({ client, kind, identity }, error, signal)) return undefined;
    throw error;
  }
}

/**
 * Whether an answer means that the server knows the resource and has no object of this name. A 404 that names no object
 * may only say that nothing answers at this path: while a definition is installed anew or an extension server is away,
 * its objects still exist, and taking them for gone would cost all that they own. But some extension servers never name
 * the object. So the collection is asked: where it can be listed, and the object is still not found, there is none.
 */
export async function isAbsent(
  { client, kind, identity }: Place,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isNotFound(error) || !(error instanceof ApiError)) return false;
  if (error.details?.name === identity.name) return true;
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

/** An object, and how to ask for it. */
export interface Place {
  readonly client: Client;
  readonly kind: Kind;
  readonly identity: Pick<Identity, 'namespace' | 'name' | 'uid'>;
}
