import { EndpointsKind, EndpointSlices, isBeingDeleted, Services, type ObjectKey } from '../../pkg/api/index.ts';
import {
  decided,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { followSlices, sliceRateLimiter, slicesByService, slicesOf, SliceTracker } from '../../pkg/endpoints/index.ts';
import { applyMirror } from './apply.ts';
import { computeDesired } from './desired.ts';
import { planEvents } from './events.ts';
import { enqueueMirrored, enqueueWithoutSelector, hasSelector } from './handlers.ts';
import { createMirroringMetrics } from './metrics.ts';
import { isMirrored, managedBy, planMirror } from './plan.ts';

const name = 'endpointslice-mirroring-controller';

/** The cache observes an own write within a few milliseconds. */
const recheckMs = 100;

export interface MirroringOptions {
  readonly workers: number;
  readonly batchPeriodMs: number;
  readonly maxPerSubset: number;
}

export function createMirroringController(context: ControllerContext, options: MirroringOptions): Controller {
  const { workers, batchPeriodMs, maxPerSubset } = options;
  const { clock } = context;
  const recorder = context.recorderFor('endpoint-slice-mirroring-controller');
  const queue = context.queueFor('endpoint_slice_mirroring', { rateLimiter: sliceRateLimiter(100_000) });
  const services = context.informers.informerFor(Services);
  const endpoints = context.informers.informerFor(EndpointsKind);
  const slices = context.informers.informerFor(EndpointSlices);
  const tracker = new SliceTracker(slices, clock);
  const metrics = createMirroringMetrics(context.metrics, maxPerSubset);
  const requeue = (owner: ObjectKey): void => queue.addAfter(owner, batchPeriodMs);
  const deps = { client: context.clientFor('endpointslicemirroring-controller'), tracker, metrics, requeue };

  slices.addIndex(slicesByService);
  const handlers = [
    endpoints.addHandler(enqueueMirrored(queue)),
    services.addHandler(enqueueWithoutSelector(queue)),
    // Include the initial list: Endpoints may have been deleted while no controller was running.
    slices.addHandler(followSlices({ manager: managedBy, tracker, skipInitial: false, enqueue: requeue })),
  ];

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const startMs = clock.monotonic();
    try {
      await sync(key, signal);
      return {};
    } finally {
      metrics.synced(clock.monotonic() - startMs);
    }
  }

  async function sync(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const source = endpoints.store.get(key);
    const service = services.store.get(key);
    const existing = slicesOf(slices.store, key, managedBy).filter(({ metadata }) => !isBeingDeleted(metadata));
    if (source === undefined || !isMirrored(source) || service === undefined || hasSelector(service)) {
      metrics.forget(key);
      await applyMirror(key, { create: [], update: [], delete: existing }, deps, signal);
      return;
    }
    const desired = computeDesired(source, maxPerSubset);
    const plan = decided(planMirror(source, desired, existing));
    metrics.planned(key, plan, desired.skipped);
    for (const event of planEvents(desired, maxPerSubset)) recorder.event(EndpointsKind, source, event);
    await applyMirror(key, plan.changes, deps, signal);
  }

  const caches = [services, endpoints, slices, ...handlers];
  const care = { primary: endpoints.store, ownWrites: [tracker], recheckMs };
  const work = { name, context, queue, reconcile, caches, workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
