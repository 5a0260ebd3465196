import {
  copyOf,
  keyOf,
  metadataOf,
  ResourcePoolStatusRequests,
  type Cached,
  type ResourcePoolStatusRequest,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { PoolStatusMetrics } from './metrics.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly pending: PendingWrites<ResourcePoolStatusRequest>;
  readonly metrics: PoolStatusMetrics;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export async function applyStatus(
  request: Cached<ResourcePoolStatusRequest>,
  status: NonNullable<ResourcePoolStatusRequest['status']>,
  { client, pending, metrics, clock }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const answered = { ...copyOf<ResourcePoolStatusRequest>(request), status };
  const labels = { driver_name: request.spec.driver };
  const startMs = clock.monotonic();
  try {
    const { metadata } = await client.updateStatus(metadataOf(ResourcePoolStatusRequests), answered, signal);
    pending.wrote(keyOf(request), metadata.resourceVersion);
  } catch (error) {
    metrics.errors.with(labels).inc();
    if (!isNotFound(error)) throw error;
  } finally {
    metrics.processed.with(labels).inc();
    metrics.duration.with(labels).observe((clock.monotonic() - startMs) / 1000);
  }
}

/** Deletes the request, unless another one has its name by now. */
export async function deleteRequest(
  client: Client,
  request: Cached<ResourcePoolStatusRequest>,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = request.metadata;
  try {
    await client.delete(ResourcePoolStatusRequests, keyOf(request), { preconditions: { uid } }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
