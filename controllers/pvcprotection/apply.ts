import {
  formatTime,
  keyOf,
  metadataOf,
  PersistentVolumeClaims,
  type Cached,
  type PersistentVolumeClaim,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { UnusedCondition } from './unused-since.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly pending: PendingWrites<PersistentVolumeClaim>;
  readonly nowMs: number;
}

/** Writes the condition in place of the one of its type. Its time is that of the change. */
export async function applyCondition(
  claim: Cached<PersistentVolumeClaim>,
  condition: UnusedCondition,
  { client, pending, nowMs }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const written = { ...condition, lastTransitionTime: formatTime(nowMs) };
  const present = claim.status?.conditions ?? [];
  const isThere = present.some(({ type }) => type === condition.type);
  const conditions = isThere
    ? present.map((other) => (other.type === condition.type ? written : other))
    : [...present, written];
  const changed = { ...claim, status: { ...claim.status, conditions } } as Unsaved<PersistentVolumeClaim>;
  try {
    const { metadata } = await client.updateStatus(metadataOf(PersistentVolumeClaims), changed, signal);
    pending.wrote(keyOf(claim), metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
