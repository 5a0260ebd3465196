import type { ObjectKey } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { applySliceChanges, type SliceChanges, type SliceTracker } from '../../pkg/endpoints/index.ts';
import type { MirroringMetrics } from './metrics.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly tracker: SliceTracker;
  readonly metrics: MirroringMetrics;
  /** Requeues the Endpoints after another client has changed their slices. */
  readonly requeue: (owner: ObjectKey) => void;
}

export async function applyMirror(
  owner: ObjectKey,
  changes: SliceChanges,
  { client, tracker, metrics, requeue }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const writer = { client, tracker, owner, ownerName: `Endpoints ${owner}`, onWritten: metrics.written };
  tracker.begin(owner);
  try {
    await applySliceChanges(changes, writer, signal);
  } finally {
    if (tracker.end(owner)) requeue(owner);
  }
}
