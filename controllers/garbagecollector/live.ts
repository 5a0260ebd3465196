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
    if (isAbsent(error, identity.name)) return undefined;
    throw error;
  }
}

/**
 * The server knows the resource, and has no object of this name. A 404 that names no object only says that nothing
 * answers at this path: while a definition is installed anew or an extension server is away, its objects still exist,
 * and taking them for gone would cost all that they own.
 */
export function isAbsent(error: unknown, name: string): boolean {
  return isNotFound(error) && error instanceof ApiError && error.details?.name === name;
}
