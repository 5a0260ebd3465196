import {
  EndpointsKind,
  keyOf,
  metadataOf,
  Pods,
  Services,
  type Endpoints,
  type ObjectKey,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isNamespaceTerminating, isNotFound, serverMessage } from '../../pkg/client/index.ts';
import {
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { leaderAnnotation, ServicePods, TriggerTimes } from '../../pkg/endpoints/index.ts';
import { planEndpoints } from './plan.ts';

const name = 'endpoints-controller';
/** The service account, and the source of events. */
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
  const client = context.clientFor(component);
  const recorder = context.recorderFor(component);
  const queue = context.queueFor('endpoint');
  const services = context.informers.informerFor(Services);
  const pods = context.informers.informerFor(Pods);
  const endpoints = context.informers.informerFor(EndpointsKind);
  const pending = new PendingWrites<Endpoints>(endpoints, context.clock);
  const triggerTimes = new TriggerTimes();

  const members = new ServicePods({
    services,
    pods,
    onServiceChange: (service) => queue.add(service),
    onPodChange: (service) => queue.addAfter(service, batchPeriodMs),
  });
  const endpointsEvents = endpoints.addHandler({
    // Their Service may have gone while nobody looked. Those that come later are their writer's business.
    added(object, initial) {
      if (initial && object.metadata.annotations?.[leaderAnnotation] === undefined) queue.add(keyOf(object));
    },
    deleted: (last) => queue.add(keyOf(last)),
  });

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const service = services.store.get(key);
    const current = endpoints.store.get(key);
    if (service === undefined) {
      if (current !== undefined) await deleteEndpoints(key, current.metadata.uid, signal);
      return {};
    }
    // The Endpoints of a Service that names no pods, or another host altogether, are for its users to keep.
    if (service.spec.type === 'ExternalName' || service.spec.selector === undefined) return {};
    const selected = members.podsOf(service);
    const triggerTime = triggerTimes.next(service, selected);
    const planned = planEndpoints({ service, pods: selected, current, triggerTime });
    if (planned !== undefined) await write(key, planned, signal);
    return {};
  }

  async function write(key: ObjectKey, planned: Unsaved<Endpoints>, signal: AbortSignal): Promise<void> {
    const isNew = planned.metadata.uid === undefined;
    const kind = metadataOf(EndpointsKind);
    try {
      const written = await (isNew ? client.create(kind, planned, signal) : client.update(kind, planned, signal));
      pending.wrote(key, written.metadata.resourceVersion);
    } catch (error) {
      if (!signal.aborted && !isNamespaceTerminating(error)) {
        const subject = { metadata: { ...planned.metadata, name: planned.metadata.name ?? '' } };
        recorder.event(EndpointsKind, subject, {
          type: 'Warning',
          reason: isNew ? 'FailedToCreateEndpoint' : 'FailedToUpdateEndpoint',
          message: isNew
            ? `Failed to create endpoint for service ${key}: ${serverMessage(error)}`
            : `Failed to update endpoint ${key}: ${serverMessage(error)}`,
        });
      }
      throw error;
    }
  }

  async function deleteEndpoints(key: ObjectKey, uid: string, signal: AbortSignal): Promise<void> {
    try {
      await client.delete(EndpointsKind, key, { preconditions: { uid } }, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  const caches = [services, pods, endpoints, members, endpointsEvents];
  const forget = (key: ObjectKey): void => triggerTimes.forget(key);
  const care = { primary: services.store, ownWrites: [pending], recheckMs, forget };
  const work = { name, context, queue, reconcile, caches, workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
