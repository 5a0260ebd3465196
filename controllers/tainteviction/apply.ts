import { keyOf, metadataOf, Pods, type Cached, type Pod } from '../../pkg/api/index.ts';
import { AttemptError, isNotFound, type Client } from '../../pkg/client/index.ts';
import type { ReconcileResult } from '../../pkg/controller/index.ts';
import { changedPodCondition } from '../../pkg/pods/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { Evictions } from './evictions.ts';
import type { TaintEvictionMetrics } from './metrics.ts';
import type { EvictionPlan } from './plan.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly evictions: Evictions;
  readonly metrics: TaintEvictionMetrics;
}

export async function applyEviction(
  plan: EvictionPlan,
  pod: Cached<Pod>,
  { client, clock, evictions, metrics }: ApplyDeps,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  switch (plan.kind) {
    case 'leave':
      return {};
    case 'cancel':
      evictions.cancel(keyOf(pod));
      return {};
    case 'wait':
      evictions.schedule(pod, plan.dueMs);
      return { requeueAfterMs: Math.max(0, plan.dueMs - clock.monotonic()) };
    case 'evict':
      if (plan.cancelsWait) evictions.cancel(keyOf(pod));
      evictions.start(pod, plan.dueMs);
      if (await evictPod(client, pod, clock.now(), signal)) {
        metrics.deletions.inc();
        metrics.latency.observe((clock.monotonic() - plan.dueMs) / 1000);
      }
      evictions.finish(pod);
      return {};
  }
}

const disruption = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/**
 * Adds the DisruptionTarget condition, then deletes the pod. False if it was already gone. A conflict is thrown like any
 * other error: it may mean that another pod has the name, or that the API server could not complete the request.
 */
export async function evictPod(client: Client, pod: Cached<Pod>, nowMs: number, signal: AbortSignal): Promise<boolean> {
  const key = keyOf(pod);
  const { uid } = pod.metadata;
  try {
    const condition = changedPodCondition(pod, disruption, nowMs);
    if (condition !== undefined) {
      const body = { metadata: { uid }, status: { conditions: [condition] } };
      await client.patch(metadataOf(Pods), key, { type: 'strategic', subresource: 'status', body }, signal);
    }
    await client.delete(Pods, key, { preconditions: { uid } }, signal);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw new AttemptError(`evict pod ${key}`, error);
  }
}
