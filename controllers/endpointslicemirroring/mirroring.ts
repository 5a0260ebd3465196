import {
  EndpointsKind,
  EndpointSlices,
  keyOf,
  Services,
  isBeingDeleted,
  type Cached,
  type Endpoints,
  type ObjectKey,
  type Service,
} from '../../pkg/api/index.ts';
import { isConflict, isNamespaceTerminating } from '../../pkg/client/index.ts';
import {
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import {
  applySliceChanges,
  followSlices,
  slicesByService,
  slicesOf,
  SliceTracker,
  SliceWriteError,
  type SliceChanges,
} from '../../pkg/endpoints/index.ts';
import { bucketLimiter, exponentialLimiter, maxOfLimiters } from '../../workqueue/index.ts';
import { computeDesired, type Desired } from './desired.ts';
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
  const client = context.clientFor('endpointslicemirroring-controller');
  const recorder = context.recorderFor('endpoint-slice-mirroring-controller');
  const queue = context.queueFor('endpoint_slice_mirroring', {
    rateLimiter: maxOfLimiters<ObjectKey>(
      exponentialLimiter({ baseMs: 1000, maxMs: 100_000 }),
      bucketLimiter({ qps: 10, burst: 100 }),
    ),
  });
  const services = context.informers.informerFor(Services);
  const endpoints = context.informers.informerFor(EndpointsKind);
  const slices = context.informers.informerFor(EndpointSlices);
  const tracker = new SliceTracker(slices, context.clock);
  const metrics = createMirroringMetrics(context.metrics, maxPerSubset);

  const enqueue = (object: Cached<Endpoints> | Cached<Service>): void => queue.add(keyOf(object));
  const enqueueLater = (owner: ObjectKey): void => queue.addAfter(owner, batchPeriodMs);
  const endpointsEvents = endpoints.addHandler({
    added: (object) => isMirrored(object) && enqueue(object),
    updated: (before, after) => (isMirrored(before) || isMirrored(after)) && enqueue(after),
    deleted: (last) => isMirrored(last) && enqueue(last),
  });
  const hasSelector = ({ spec }: Cached<Service>): boolean => spec.selector !== undefined;
  const serviceEvents = services.addHandler({
    added: (service) => !hasSelector(service) && enqueue(service),
    updated: (before, after) => hasSelector(before) !== hasSelector(after) && enqueue(after),
    deleted: (last) => !hasSelector(last) && enqueue(last),
  });
  slices.addIndex(slicesByService);
  // Those there are at the start may have lost their Endpoints while nobody looked.
  const sliceEvents = slices.addHandler(
    followSlices({ manager: managedBy, tracker, skipInitial: false, enqueue: enqueueLater }),
  );

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const startMs = context.clock.monotonic();
    try {
      await sync(key, signal);
      return {};
    } finally {
      metrics.synced(context.clock.monotonic() - startMs);
    }
  }

  async function sync(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const source = endpoints.store.get(key);
    const service = services.store.get(key);
    const existing = slicesOf(slices.store, key, managedBy).filter(({ metadata }) => !isBeingDeleted(metadata));
    if (source === undefined || !isMirrored(source) || service === undefined || hasSelector(service)) {
      metrics.forget(key);
      await write(key, { create: [], update: [], delete: existing }, signal);
      return;
    }
    const desired = computeDesired(source, maxPerSubset);
    const plan = planMirror(source, desired, existing);
    metrics.planned(key, plan, desired.skipped);
    report(source, desired);
    await write(key, plan.changes, signal);
  }

  function report(source: Cached<Endpoints>, { invalid, skipped }: Desired): void {
    const warn = (reason: string, message: string): void =>
      recorder.event(EndpointsKind, source, { type: 'Warning', reason, message });
    if (invalid > 0) {
      warn('InvalidIPAddress', `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`);
    }
    if (skipped > invalid) {
      warn(
        'TooManyAddressesToMirror',
        `A max of ${maxPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`,
      );
    }
  }

  async function write(owner: ObjectKey, changes: SliceChanges, signal: AbortSignal): Promise<void> {
    const writer = { client, tracker, owner, ownerName: `Endpoints ${owner}`, onWritten: metrics.written };
    tracker.begin(owner);
    try {
      await applySliceChanges(changes, writer, signal);
    } catch (error) {
      const { cause } = error instanceof SliceWriteError ? error : {};
      throw isConflict(cause) || isNamespaceTerminating(cause) ? cause : error;
    } finally {
      if (tracker.end(owner)) enqueueLater(owner);
    }
  }

  const caches = [services, endpoints, slices, endpointsEvents, serviceEvents, sliceEvents];
  const care = { primary: endpoints.store, ownWrites: [tracker], recheckMs };
  const work = { name, context, queue, reconcile, caches, workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
