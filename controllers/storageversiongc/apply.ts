import { copyOf, keyOf, StorageVersions, type Cached, type StorageVersion } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { RecordsPlan } from './records.ts';

/**
 * Writes what was decided about this version of the object. If a server has added a record meanwhile, the write conflicts,
 * and the next sync decides again.
 */
export async function applyPlan(
  plan: RecordsPlan,
  version: Cached<StorageVersion>,
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  const { uid, resourceVersion } = version.metadata;
  try {
    if (plan.kind === 'delete') {
      await client.delete(StorageVersions, keyOf(version), { preconditions: { uid, resourceVersion } }, signal);
    } else if (plan.kind === 'update') {
      const object = { ...copyOf<StorageVersion>(version), status: plan.status };
      await client.updateStatus(StorageVersions, object, signal);
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
