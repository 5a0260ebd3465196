import {
  EndpointsKind,
  EndpointSlices,
  isBeingDeleted,
  keyOf,
  Services,
  type Cached,
  type Endpoints,
  type ObjectKey,
  type Service,
} from '../../pkg/api/index.ts';
import {
  runWorkers,
  type Controller,
  type ControllerContext,
  type KeySink,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { followSlices, slicesByService, slicesOf, SliceTracker } from '../../pkg/endpoints/index.ts';
import type { Handler } from '../../informers/index.ts';
import { bucketLimiter, exponentialLimiter, maxOfLimiters } from '../../workqueue/index.ts';
import { applyMirror } from './apply.ts';
import { computeDesired } from './desired.ts';
import { planEvents } from './events.ts';
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
  const rateLimiter = maxOfLimiters<ObjectKey>(
    exponentialLimiter({ baseMs: 1000, maxMs: 100_000 }),
    bucketLimiter({ qps: 10, burst: 100 }),
  );
  const queue = context.queueFor('endpoint_slice_mirroring', { rateLimiter });
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
    const plan = planMirror(source, desired, existing);
    metrics.planned(key, plan, desired.skipped);
    for (const event of planEvents(desired, maxPerSubset)) recorder.event(EndpointsKind, source, event);
    await applyMirror(key, plan.changes, deps, signal);
  }

  const caches = [services, endpoints, slices, ...handlers];
  const care = { primary: endpoints.store, ownWrites: [tracker], recheckMs };
  const work = { name, context, queue, reconcile, caches, workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}

function enqueueMirrored(queue: KeySink): Handler<Endpoints> {
  return {
    added: (object) => isMirrored(object) && queue.add(keyOf(object)),
    updated: (before, after) => (isMirrored(before) || isMirrored(after)) && queue.add(keyOf(after)),
    deleted: (last) => isMirrored(last) && queue.add(keyOf(last)),
  };
}

/** Enqueues Services without a selector, and Services that get or lose one. */
function enqueueWithoutSelector(queue: KeySink): Handler<Service> {
  return {
    added: (service) => !hasSelector(service) && queue.add(keyOf(service)),
    updated: (before, after) => hasSelector(before) !== hasSelector(after) && queue.add(keyOf(after)),
    deleted: (last) => !hasSelector(last) && queue.add(keyOf(last)),
  };
}

const hasSelector = ({ spec }: Cached<Service>): boolean => spec.selector !== undefined;
