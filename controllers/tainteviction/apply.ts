import { keyOf, type Cached, type Pod } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { ReconcileResult } from '../../pkg/controller/index.ts';
import { evictPod, type Evictions } from '../../pkg/evictions/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
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
      if (await evictPod(client, pod, { cause, nowMs: clock.now() }, signal)) {
        metrics.deletions.inc();
        metrics.latency.observe((clock.monotonic() - plan.dueMs) / 1000);
      }
      evictions.finish(pod);
      return {};
  }
}

const cause = {
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
  observesGeneration: true,
};
