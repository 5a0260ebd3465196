import {
  ControllerRevisions,
  int64Field,
  keyOf,
  metadataOf,
  type Cached,
  type ControllerRevision,
  type MetadataOnly,
  type Unsaved,
} from '../api/index.ts';
import { isAlreadyExists, isNotFound, type Client } from '../client/index.ts';
import { revisionData } from './revision-data.ts';

/** The result of a create. `collision`: a revision with other data has the name. */
export type Creation =
  | { readonly kind: 'stored'; readonly revision: ControllerRevision }
  | { readonly kind: 'collision' };

/** Creates the revision. A revision with the same name and data is the one of an earlier attempt. */
export async function createRevision(
  client: Client,
  revision: Unsaved<ControllerRevision>,
  signal: AbortSignal,
): Promise<Creation> {
  try {
    return { kind: 'stored', revision: await client.create(ControllerRevisions, revision, signal) };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await client.get(ControllerRevisions, keyOf(revision), signal);
    const isSame = revisionData(existing) === revisionData(revision);
    return isSame ? { kind: 'stored', revision: existing } : { kind: 'collision' };
  }
}

/**
 * Changes the number or labels of the revision with this uid. A patch: the server refuses an update whose data has
 * other bytes, even if it means the same.
 */
export async function patchRevision(
  client: Client,
  revision: Cached<ControllerRevision>,
  change: { readonly revision?: bigint; readonly labels?: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<MetadataOnly> {
  const { uid } = revision.metadata;
  const body = {
    metadata: { uid, ...(change.labels && { labels: change.labels }) },
    ...(change.revision !== undefined && { revision: int64Field(change.revision) }),
  };
  return client.patch(metadataOf(ControllerRevisions), keyOf(revision), { type: 'merge', body }, signal);
}

/** Deletes the revision with this uid. False if it was already deleted. */
export async function deleteRevision(
  client: Client,
  revision: Cached<ControllerRevision>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { uid } = revision.metadata;
    await client.delete(ControllerRevisions, keyOf(revision), { preconditions: { uid } }, signal);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
