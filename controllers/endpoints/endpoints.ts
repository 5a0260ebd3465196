import { EndpointsKind, keyOf, Pods, Services, type Endpoints, type ObjectKey } from '../../pkg/api/index.ts';
import {
  decided,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { leaderAnnotation, createServicePods, TriggerTimes } from '../../pkg/endpoints/index.ts';
import { deleteEndpoints, writeEndpoints } from './apply.ts';
import { planEndpoints } from './plan.ts';

const name = 'endpoints-controller';
/** The name of the service account and the source of events. */
const component = 'endpoint-controller';

/** The cache observes an own write within a few milliseconds. */
const recheckMs = 100;

export interface EndpointsOptions {
  readonly workers: number;
  readonly batchPeriodMs: number;
}

export function createEndpointsController(
  context: ControllerContext,
  { workers, batchPeriodMs }: EndpointsOptions,
): Controller {
  const queue = context.queueFor('endpoint');
  const services = context.informers.informerFor(Services);
  const pods = context.informers.informerFor(Pods);
  const endpoints = context.informers.informerFor(EndpointsKind);
  const pending = new PendingWrites<Endpoints>(endpoints, context.clock);
  const deps = { client: context.clientFor(component), recorder: context.recorderFor(component), pending };
  const triggerTimes = new TriggerTimes();

  const members = createServicePods({
    services,
    pods,
    onServiceChange: (service) => queue.add(service),
    onPodChange: (service) => queue.addAfter(service, batchPeriodMs),
  });
  const endpointsEvents = endpoints.addHandler({
    // Initial list: the Service may have been deleted while no controller was running. Later additions need no sync.
    added(object, initial) {
      if (initial && object.metadata.annotations?.[leaderAnnotation] === undefined) queue.add(keyOf(object));
    },
    deleted: (last) => queue.add(keyOf(last)),
  });

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const service = services.store.get(key);
    const current = endpoints.store.get(key);
    if (service === undefined) {
      // Also if the cache has none: it may not have observed our last write yet.
      await deleteEndpoints(key, current?.metadata.uid, deps, signal);
      return {};
    }
    // Users manage the Endpoints of a Service without a selector, or of type ExternalName.
    if (service.spec.type === 'ExternalName' || service.spec.selector === undefined) return {};
    const selected = members.podsOf(service);
    const triggerTime = triggerTimes.next(service, selected);
    const planned = decided(planEndpoints({ service, pods: selected, current, triggerTime }));
    if (planned !== undefined) await writeEndpoints(key, planned, deps, signal);
    return {};
  }

  const caches = [services, pods, endpoints, members, endpointsEvents];
  const forget = (key: ObjectKey): void => triggerTimes.forget(key);
  const care = { primary: services.store, ownWrites: [pending], recheckMs, forget };
  const work = { name, context, queue, reconcile, caches, workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
