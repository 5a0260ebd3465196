import { keyOf, Services, type Cached, type ObjectKey, type Service } from '../../pkg/api/index.ts';
import { isConflict, isNamespaceTerminating, type Client } from '../../pkg/client/index.ts';
import { asError } from '../../pkg/controller/index.ts';
import { applySliceChanges, type SliceTracker } from '../../pkg/endpoints/index.ts';
import { type IpFamily } from '../../pkg/ip/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import { wantsTopologyHints } from './hints.ts';
import type { EndpointSliceMetrics } from './metrics.ts';
import type { ServicePlan } from './plan-service.ts';
import type { Topology } from './topology.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly tracker: SliceTracker;
  readonly metrics: EndpointSliceMetrics;
  readonly topology: Topology;
  /** Requeues the Service after another client has changed its slices. */
  readonly requeue: (service: ObjectKey) => void;
}

/** Writes the slices of a Service and counts the result. */
export async function applyService(
  service: Cached<Service>,
  plan: ServicePlan,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf(service);
  const { metrics, recorder, topology, tracker } = deps;
  const portGroups = [...plan.plans.values()].flatMap((family) => family.portGroups);
  for (const [family, { hintsByZone }] of plan.plans) topology.setHints(key, family, hintsByZone);
  for (const { addressType } of plan.foreign) topology.setHints(key, addressType as IpFamily, undefined);
  metrics.counted(key, portGroups, plan.trafficDistribution);
  tracker.begin(key);
  try {
    await applyPlans(service, plan, deps, signal);
    metrics.synced('success');
  } catch (error) {
    if (!signal.aborted && !isNamespaceTerminating(error)) {
      metrics.synced('error');
      const message = `Error updating Endpoint Slices for Service ${key}: ${asError(error).message}`;
      recorder.event(Services, service, { type: 'Warning', reason: 'FailedToUpdateEndpointSlices', message });
    }
    throw error;
  } finally {
    if (tracker.end(key)) deps.requeue(key);
  }
}

/** Tries the slices of all address families before it throws: an error in one family must not block the other. */
async function applyPlans(
  service: Cached<Service>,
  { plans, foreign, trafficDistribution = '' }: ServicePlan,
  { client, recorder, tracker, metrics }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const owner = keyOf(service);
  const writer = { client, tracker, owner, ownerName: `Service ${owner}`, onWritten: metrics.written };
  const topology = wantsTopologyHints(service) ? 'Auto' : 'Disabled';
  const failures: Error[] = [];
  for (const plan of plans.values()) {
    const { changes, events, skipped } = plan;
    failures.push(...skipped.map((message) => new EndpointSliceSyncError(message)));
    metrics.planned(plan);
    try {
      await applySliceChanges(changes, writer, signal);
      const written = changes.create.length + changes.update.length + changes.delete.length;
      metrics.changed(written, { topology, trafficDistribution });
    } catch (error) {
      if (signal.aborted) throw error;
      failures.push(asError(error));
    }
    for (const event of events) recorder.event(Services, service, event);
  }
  try {
    await applySliceChanges({ create: [], update: [], delete: foreign }, writer, signal);
  } catch (error) {
    failures.push(asError(error));
  }
  throwFailures(failures);
}

/** Throws one error with all messages: it becomes the message of an event. */
function throwFailures(failures: readonly Error[]): void {
  const [first] = failures;
  if (first === undefined) return;
  const terminating = failures.find(isNamespaceTerminating);
  if (terminating !== undefined) throw terminating;
  const messages = [...new Set(failures.map(({ message }) => message))];
  const message = messages.length === 1 ? first.message : `[${messages.join(', ')}]`;
  throw new EndpointSliceSyncError(message, { cause: failures.find(isConflict) ?? first });
}

export class EndpointSliceSyncError extends Error {
  override readonly name = 'EndpointSliceSyncError';
  readonly reason = 'EndpointSliceSyncFailed';
}
