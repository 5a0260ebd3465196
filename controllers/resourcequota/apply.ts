import {
  keyOf,
  metadataOf,
  ResourceQuotas,
  type Cached,
  type ResourceQuota,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isConflict, isNotFound, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { QuotaStatus } from './status.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly pending: PendingWrites<ResourceQuota>;
}

/**
 * Writes with the resource version that was read: the API server charges new objects in the same status. Returns false if
 * it has done so meanwhile.
 */
export async function applyStatus(
  quota: Cached<ResourceQuota>,
  status: QuotaStatus,
  { client, pending }: ApplyDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const updated = { ...quota, status } as unknown as Unsaved<ResourceQuota>;
  try {
    const { metadata } = await client.updateStatus(metadataOf(ResourceQuotas), updated, signal);
    pending.wrote(keyOf(quota), metadata.resourceVersion);
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    if (isNotFound(error)) return true;
    throw error;
  }
}
