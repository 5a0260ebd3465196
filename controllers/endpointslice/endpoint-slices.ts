import { EndpointSlices, isBeingDeleted, Nodes, Pods, Services, type ObjectKey } from '../../pkg/api/index.ts';
import {
  decided,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import {
  followSlices,
  createServicePods,
  sliceRateLimiter,
  slicesByService,
  slicesOf,
  SliceTracker,
  TriggerTimes,
} from '../../pkg/endpoints/index.ts';
import { applyService } from './apply.ts';
import { trafficDistributionOf } from './hints.ts';
import { createEndpointSliceMetrics } from './metrics.ts';
import { managedBy } from './plan.ts';
import { planService } from './plan-service.ts';
import { nodesOf } from './pod-nodes.ts';
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
  const queue = context.queueFor('endpoint_slice', { rateLimiter: sliceRateLimiter(1_000_000) });
  const services = context.informers.informerFor(Services);
  const pods = context.informers.informerFor(Pods);
  const nodes = context.informers.informerFor(Nodes);
  const slices = context.informers.informerFor(EndpointSlices);
  const triggerTimes = new TriggerTimes();
  const preferSameEnabled = context.gates.isEnabled('PreferSameTrafficDistribution');
  const deps = {
    client: context.clientFor(name),
    recorder: context.recorderFor('endpoint-slice-controller'),
    tracker: new SliceTracker(slices, context.clock),
    topology: new Topology((service) => queue.add(service)),
    metrics: createEndpointSliceMetrics(context.metrics, maxPerSlice),
    requeue: (service: ObjectKey): void => queue.addAfter(service, Math.max(sliceChangeDelayMs, batchPeriodMs)),
  };
  const { tracker, topology, metrics } = deps;

  const members = createServicePods({
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
    // The garbage collector deletes the slices of a deleted Service. Users manage those of a Service without a selector.
    if (service?.spec.selector === undefined || service.spec.type === 'ExternalName') return {};
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
    await applyService(service, decided(plan), deps, signal);
    return {};
  }

  const care = {
    caches: [services, pods, nodes, slices, members, ...handlers],
    primary: services.store,
    ownWrites: [tracker],
    recheckMs,
    onStale: (): void => metrics.synced('stale'),
    forget: (key: ObjectKey): void => [triggerTimes, topology, metrics].forEach((state) => state.forget(key)),
  };
  return { name, run: (signal) => runWorkers({ name, context, queue, reconcile, workers, ...care }, signal) };
}
