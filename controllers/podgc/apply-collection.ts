import { metadataOf, Nodes, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import { runBounded } from '../../pkg/controller/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { forceDelete } from './apply.ts';
import type { PodGcMetrics } from './metrics.ts';
import { isForceDeleted, type Reason } from './select.ts';

const concurrentDeletes = 16;

export interface CollectionDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: PodGcMetrics;
}

/** Force-deletes the selected pods. Tries all of them, then throws the first error. */
export async function collectPods(
  selected: ReadonlyMap<Cached<Pod>, Reason>,
  { client, clock, logger, metrics }: CollectionDeps,
  signal: AbortSignal,
): Promise<void> {
  const pods = [...selected].filter(([pod]) => !isForceDeleted(pod));
  if (pods.length === 0) return;
  logger.info({ pods: pods.length }, 'force-deleting pods');
  await runBounded(concurrentDeletes, pods, async ([pod, reason]) => {
    signal.throwIfAborted();
    const labels = { namespace: pod.metadata.namespace ?? '', reason };
    metrics.deletes.with(labels).inc();
    try {
      await forceDelete(client, pod, { reason, nowMs: clock.now() }, signal);
    } catch (error) {
      metrics.errors.with(labels).inc();
      throw error;
    }
  });
}

/** Whether the API server has the node. The cache may be stale. */
export async function nodeExists(client: Client, key: ObjectKey, signal: AbortSignal): Promise<boolean> {
  try {
    await client.get(metadataOf(Nodes), key, signal);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
