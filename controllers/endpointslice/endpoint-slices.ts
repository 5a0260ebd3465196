import {
  EndpointSlices,
  isBeingDeleted,
  Nodes,
  objectKey,
  Pods,
  Services,
  type Cached,
  type Node,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import {
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import {
  followSlices,
  ServicePods,
  slicesByService,
  slicesOf,
  SliceTracker,
  TriggerTimes,
} from '../../pkg/endpoints/index.ts';
import type { Store } from '../../informers/index.ts';
import { bucketLimiter, exponentialLimiter, maxOfLimiters } from '../../workqueue/index.ts';
import { applyService } from './apply.ts';
import { trafficDistributionOf } from './hints.ts';
import { createEndpointSliceMetrics } from './metrics.ts';
import { managedBy } from './plan.ts';
import { planService } from './plan-service.ts';
import { Topology } from './topology.ts';

const name = 'endpointslice-controller';

/** Other clients often change several slices together. One sync after the last change is enough. */
const sliceChangeDelayMs = 1000;

/** The cache observes an own write within a few milliseconds. */
const recheckMs = 100;

export interface EndpointSliceOptions {
  readonly workers: number;
  readonly batchPeriodMs: number;
  readonly maxPerSlice: number;
}

export function createEndpointSliceController(context: ControllerContext, options: EndpointSliceOptions): Controller {
  const { workers, batchPeriodMs, maxPerSlice } = options;
  const queue = context.queueFor('endpoint_slice', { rateLimiter: createRateLimiter() });
  const services = context.informers.informerFor(Services);
  const pods = context.informers.informerFor(Pods);
  const nodes = context.informers.informerFor(Nodes);
  const slices = context.informers.informerFor(EndpointSlices);
  const triggerTimes = new TriggerTimes();
  const preferSameEnabled = context.gates.isEnabled('PreferSameTrafficDistribution');
  const delayMs = Math.max(sliceChangeDelayMs, batchPeriodMs);
  const deps = {
    client: context.clientFor(name),
    recorder: context.recorderFor('endpoint-slice-controller'),
    tracker: new SliceTracker(slices, context.clock),
    topology: new Topology((service) => queue.add(service)),
    metrics: createEndpointSliceMetrics(context.metrics, maxPerSlice),
    requeue: (service: ObjectKey): void => queue.addAfter(service, delayMs),
  };
  const { tracker, topology, metrics } = deps;

  const members = new ServicePods({
    services,
    pods,
    onServiceChange: (service) => queue.add(service),
    onPodChange: (service) => queue.addAfter(service, batchPeriodMs),
  });
  slices.addIndex(slicesByService);
  const handlers = [
    slices.addHandler(followSlices({ manager: managedBy, tracker, skipInitial: true, enqueue: deps.requeue })),
    nodes.addHandler(topology.handler),
  ];

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const service = services.store.get(key);
    if (service === undefined) return {}; // the garbage collector deletes its slices
    // Users manage the slices of a Service without a selector, or of type ExternalName.
    if (service.spec.type === 'ExternalName' || service.spec.selector === undefined) return {};
    const selected = members.podsOf(service);
    const plan = planService({
      service,
      pods: selected,
      nodes: nodesOf(selected, nodes.store),
      existing: slicesOf(slices.store, key, managedBy).filter(({ metadata }) => !isBeingDeleted(metadata)),
      maxPerSlice,
      triggerTime: triggerTimes.next(service, selected),
      trafficDistribution: trafficDistributionOf(service, { preferSameEnabled }),
      shares: topology.shares,
      hintedFamilies: topology.hintedFamilies(key),
    });
    await applyService(service, plan, deps, signal);
    return {};
  }

  const caches = [services, pods, nodes, slices, members, ...handlers];
  const care = {
    primary: services.store,
    ownWrites: [tracker],
    recheckMs,
    onStale: (): void => metrics.synced('stale'),
    forget: (key: ObjectKey): void => [triggerTimes, topology, metrics].forEach((state) => state.forget(key)),
  };
  const work = { name, context, queue, reconcile, caches, workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}

/** A failed sync may have thousands of endpoints to write: the first retry waits a second, not milliseconds. */
function createRateLimiter() {
  return maxOfLimiters<ObjectKey>(
    exponentialLimiter({ baseMs: 1000, maxMs: 1_000_000 }),
    bucketLimiter({ qps: 10, burst: 100 }),
  );
}

/** The nodes of these pods, by name, as far as the cache has them. */
function nodesOf(pods: readonly Cached<Pod>[], nodes: Pick<Store<Node>, 'get'>): ReadonlyMap<string, Cached<Node>> {
  const found = new Map<string, Cached<Node>>();
  for (const { nodeName = '' } of pods.map(({ spec }) => spec)) {
    const node = found.has(nodeName) ? undefined : nodes.get(objectKey(undefined, nodeName));
    if (node !== undefined) found.set(nodeName, node);
  }
  return found;
}
