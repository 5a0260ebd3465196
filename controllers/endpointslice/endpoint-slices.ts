import {
  EndpointSlices,
  keyOf,
  Nodes,
  objectKey,
  Pods,
  Services,
  isBeingDeleted,
  type Cached,
  type Node,
  type ObjectKey,
  type Pod,
  type Service,
} from '../../pkg/api/index.ts';
import { isConflict, isNamespaceTerminating } from '../../pkg/client/index.ts';
import {
  asError,
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
  type IpFamily,
} from '../../pkg/endpoints/index.ts';
import { bucketLimiter, exponentialLimiter, maxOfLimiters } from '../../workqueue/index.ts';
import { applyPlans, EndpointSliceSyncError } from './apply.ts';
import { trafficDistributionOf } from './hints.ts';
import { createEndpointSliceMetrics } from './metrics.ts';
import { managedBy, planFamily } from './plan.ts';
import { familiesOf } from './pod-endpoint.ts';
import { Topology } from './topology.ts';

const name = 'endpointslice-controller';

/** Slices that others change come in groups: one look after the last is enough. */
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
  const client = context.clientFor(name);
  const recorder = context.recorderFor('endpoint-slice-controller');
  // A failed sync may have thousands of endpoints to write: the first retry waits a second, not milliseconds.
  const queue = context.queueFor('endpoint_slice', {
    rateLimiter: maxOfLimiters<ObjectKey>(
      exponentialLimiter({ baseMs: 1000, maxMs: 1_000_000 }),
      bucketLimiter({ qps: 10, burst: 100 }),
    ),
  });
  const services = context.informers.informerFor(Services);
  const pods = context.informers.informerFor(Pods);
  const nodes = context.informers.informerFor(Nodes);
  const slices = context.informers.informerFor(EndpointSlices);
  const tracker = new SliceTracker(slices, context.clock);
  const triggerTimes = new TriggerTimes();
  const topology = new Topology((service) => queue.add(service));
  const metrics = createEndpointSliceMetrics(context.metrics, maxPerSlice);
  const preferSameEnabled = context.gates.isEnabled('PreferSameTrafficDistribution');

  const enqueueLater = (service: ObjectKey): void =>
    queue.addAfter(service, Math.max(sliceChangeDelayMs, batchPeriodMs));
  const members = new ServicePods({
    services,
    pods,
    onServiceChange: (service) => queue.add(service),
    onPodChange: (service) => queue.addAfter(service, batchPeriodMs),
  });
  slices.addIndex(slicesByService);
  const sliceEvents = slices.addHandler(
    followSlices({
      manager: managedBy,
      tracker,
      skipInitial: true,
      enqueue: enqueueLater,
    }),
  );
  const nodeEvents = nodes.addHandler(topology.handler);

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const service = services.store.get(key);
    if (service === undefined) return {}; // the garbage collector deletes its slices
    // The slices of a Service that names no pods, or another host altogether, are for its users to keep.
    if (service.spec.type === 'ExternalName' || service.spec.selector === undefined) return {};
    try {
      await sync(service, signal);
      metrics.synced('success');
      return {};
    } catch (error) {
      if (!signal.aborted && !isNamespaceTerminating(error)) reportFailure(service, asError(error));
      throw error instanceof EndpointSliceSyncError && isConflict(error.cause) ? error.cause : error;
    }
  }

  function reportFailure(service: Cached<Service>, error: Error): void {
    metrics.synced('error');
    const message = `Error updating Endpoint Slices for Service ${keyOf(service)}: ${error.message}`;
    recorder.event(Services, service, { type: 'Warning', reason: 'FailedToUpdateEndpointSlices', message });
  }

  function nodesOf(selected: readonly Cached<Pod>[]): ReadonlyMap<string, Cached<Node>> {
    const found = new Map<string, Cached<Node>>();
    for (const { nodeName = '' } of selected.map(({ spec }) => spec)) {
      const node = found.has(nodeName) ? undefined : nodes.store.get(objectKey(undefined, nodeName));
      if (node !== undefined) found.set(nodeName, node);
    }
    return found;
  }

  async function sync(service: Cached<Service>, signal: AbortSignal): Promise<void> {
    const key = keyOf(service);
    const selected = members.podsOf(service);
    const existing = slicesOf(slices.store, key, managedBy).filter(({ metadata }) => !isBeingDeleted(metadata));
    const triggerTime = triggerTimes.next(service, selected);
    const trafficDistribution = trafficDistributionOf(service, { preferSameEnabled });
    const families = familiesOf(service);
    const nodesOfPods = nodesOf(selected);
    const plans = families.map((family) => {
      const plan = planFamily({
        service,
        family,
        pods: selected,
        nodes: nodesOfPods,
        existing: existing.filter(({ addressType }) => addressType === family),
        maxPerSlice,
        triggerTime,
        trafficDistribution,
        shares: topology.shares,
        hadHints: topology.hasHints(key),
      });
      topology.setHints(key, family, plan.hintsByZone);
      return plan;
    });
    const portGroups = plans.flatMap((plan) => plan.portGroups);
    metrics.counted(key, portGroups, trafficDistribution);
    const foreign = existing.filter(({ addressType }) => !families.includes(addressType as IpFamily));
    for (const { addressType } of foreign) topology.setHints(key, addressType as IpFamily, undefined);
    tracker.begin(key);
    try {
      const deps = { client, recorder, tracker, metrics };
      await applyPlans(service, { plans, foreign, trafficDistribution }, deps, signal);
    } finally {
      if (tracker.end(key)) enqueueLater(key);
    }
  }

  const caches = [services, pods, nodes, slices, members, sliceEvents, nodeEvents];
  const care = {
    primary: services.store,
    ownWrites: [tracker],
    recheckMs,
    onStale: (): void => metrics.synced('stale'),
    forget(key: ObjectKey): void {
      triggerTimes.forget(key);
      topology.forget(key);
      metrics.forget(key);
    },
  };
  const work = { name, context, queue, reconcile, caches, workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
