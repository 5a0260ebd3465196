import {
  apiVersionOf,
  copyOf,
  CustomResourceDefinitions,
  keyOf,
  metadataOf,
  StorageVersionMigrations,
  type Cached,
  type Kind,
  type MetadataOnly,
  type ObjectKey,
  type StorageVersionMigration,
  type StorageVersionMigrationStatus,
} from '../../pkg/api/index.ts';
import {
  isConflict,
  isConnectionError,
  isInternal,
  isNamespaceTerminating,
  isNotFound,
  isServerTimeout,
  isServiceUnavailable,
  isTimeout,
  isTooManyRequests,
  type Client,
} from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';

const runnerManager = 'migration-runner-controller';

export interface ApplyDeps {
  readonly client: Client;
  readonly pending: PendingWrites<StorageVersionMigration>;
}

/** Writes the status for the key that is being synced. It conflicts if the migration has changed. */
export async function writeStatus(
  migration: Cached<StorageVersionMigration>,
  status: StorageVersionMigrationStatus,
  { client, pending, key }: ApplyDeps & { readonly key: ObjectKey },
  signal: AbortSignal,
): Promise<void> {
  const object = { ...copyOf<StorageVersionMigration>(migration), status };
  try {
    const { metadata } = await client.updateStatus(metadataOf(StorageVersionMigrations), object, signal);
    pending.wrote(key, metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error)) throw error; // deleted: nobody reads its status
  }
}

/** Applies the status of a definition, for which `migration-runner-controller` is responsible. */
export async function applyDefinition(
  client: Client,
  key: ObjectKey,
  body: object,
  signal: AbortSignal,
): Promise<void> {
  const patch = { type: 'apply', subresource: 'status', body, fieldManager: runnerManager, force: true } as const;
  try {
    await client.patch(metadataOf(CustomResourceDefinitions), key, patch, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/**
 * Lets the server store the object anew, in its current version, by a patch that changes nothing. False if there was no
 * need: the object has been written meanwhile, and so migrated, or it is gone.
 */
export async function rewrite(
  client: Client,
  kind: Kind,
  object: Cached<MetadataOnly>,
  { fieldManager, signal }: { readonly fieldManager: string; readonly signal: AbortSignal },
): Promise<boolean> {
  const { uid, resourceVersion } = object.metadata;
  // With both, the patch of an object that is gone conflicts, where it would create an empty object, and so does that of
  // an object that was created again under its name.
  const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { uid, resourceVersion } };
  try {
    await client.patch(metadataOf(kind), keyOf(object), { type: 'apply', body, fieldManager }, signal);
    return true;
  } catch (error) {
    // Without its namespace, or in one that is being deleted, an object that is gone is not found or not allowed.
    if (isConflict(error) || isNotFound(error) || isNamespaceTerminating(error)) return false;
    throw error;
  }
}

/** Whether another try may succeed. Any other error ends the migration. */
export function isRetriable(error: unknown): boolean {
  const reasons = [isServerTimeout, isTooManyRequests, isServiceUnavailable, isInternal, isTimeout];
  return isConnectionError(error) || reasons.some((is) => is(error));
}
