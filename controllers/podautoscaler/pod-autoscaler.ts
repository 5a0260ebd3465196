import {
  HorizontalPodAutoscalers,
  Pods,
  splitKey,
  type HorizontalPodAutoscaler,
  type ObjectKey,
} from '../../pkg/api/index.ts';
import {
  decided,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { fixedLimiter } from '../../workqueue/index.ts';
import { applySync } from './apply.ts';
import { enqueueLater } from './handlers.ts';
import type { History } from './history.ts';
import { LateSyncs } from './late-syncs.ts';
import { defineAutoscalerMetrics } from './metrics.ts';
import { planSync } from './plan.ts';
import { MetricsReader } from './read-metrics.ts';
import { ServedKinds } from './served-kinds.ts';
import { settingsOf, type FlagSettings } from './settings.ts';
import { takeSnapshot } from './snapshot.ts';
import { TargetPods } from './target-pods.ts';

const name = 'horizontal-pod-autoscaler-controller';

export interface AutoscalerOptions extends FlagSettings {
  readonly workers: number;
}

/** Scales workloads by metrics. Every autoscaler syncs once in a period, the first time one period after it was created. */
export function createPodAutoscaler(context: ControllerContext, options: AutoscalerOptions): Controller {
  const { clock, gates } = context;
  const { workers, syncPeriodMs: periodMs } = options;
  const settings = settingsOf(options, gates);
  const client = context.clientFor('horizontal-pod-autoscaler');
  const queue = context.queueFor('horizontalpodautoscaler', { rateLimiter: fixedLimiter<ObjectKey>(periodMs) });
  const autoscalers = context.informers.informerFor(HorizontalPodAutoscalers);
  const pods = context.informers.informerFor(Pods);
  const recorder = context.recorderFor('horizontal-pod-autoscaler');
  const metrics = defineAutoscalerMetrics(context.metrics);
  const pending = new PendingWrites<HorizontalPodAutoscaler>(autoscalers, clock);
  const kinds = new ServedKinds(context.discovery, clock);
  const reader = new MetricsReader({ client, kinds, clock, periodMs });
  const targetPods = new TargetPods(pods.store);
  const histories = new Map<ObjectKey, History>();
  const reading = { client, kinds, clock, settings, autoscalers: autoscalers.store, targetPods, histories, reader };

  const podEvents = pods.addHandler(targetPods.handler());
  const noteAutoscaler = (key: ObjectKey, isPresent: boolean): void => {
    if (isPresent) targetPods.add(key);
    else targetPods.remove(key);
    metrics.count.set(targetPods.size);
  };
  const events = autoscalers.addHandler(enqueueLater(queue, noteAutoscaler));

  async function sync(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const startMs = clock.monotonic();
    const snapshot = await takeSnapshot(key, reading, signal);
    if (snapshot === undefined) return {};
    const writing = { client, recorder, pending, histories, metrics, elapsedMs: () => clock.monotonic() - startMs };
    await applySync(decided(planSync(snapshot)), snapshot, writing, signal);
    return { requeueAfterMs: periodMs };
  }

  const syncs = new LateSyncs(sync, { clock, periodMs });
  const forget = (key: ObjectKey): void => {
    syncs.forget(key);
    histories.delete(key);
    metrics.forget(splitKey(key));
  };
  const reconcile = (key: ObjectKey, signal: AbortSignal) => syncs.reconcile(key, signal);
  const care = { primary: autoscalers.store, ownWrites: [pending], forget };
  const work = { name, context, queue, reconcile, workers, caches: [autoscalers, pods, events, podEvents], ...care };
  async function run(signal: AbortSignal): Promise<void> {
    try {
      await runWorkers(work, signal);
    } finally {
      await syncs.stop();
    }
  }
  return { name, run };
}
