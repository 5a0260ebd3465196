import { keyOf, Services, type Cached, type EndpointSlice, type Service } from '../../pkg/api/index.ts';
import { isConflict, isNamespaceTerminating, type Client } from '../../pkg/client/index.ts';
import { asError } from '../../pkg/controller/index.ts';
import { applySliceChanges, type SliceTracker } from '../../pkg/endpoints/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import { wantsTopologyHints } from './hints.ts';
import type { EndpointSliceMetrics } from './metrics.ts';
import type { Plan } from './plan.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly tracker: SliceTracker;
  readonly metrics: EndpointSliceMetrics;
}

export interface ServicePlan {
  /** One for each address family. */
  readonly plans: readonly Plan[];
  /** Slices of families that the Service has no more. */
  readonly foreign: readonly Cached<EndpointSlice>[];
  readonly trafficDistribution: string | undefined;
}

/**
 * Writes what was planned for a Service. One family that cannot be written must not keep the other back: all is tried
 * before the failures are thrown.
 */
export async function applyPlans(
  service: Cached<Service>,
  { plans, foreign, trafficDistribution = '' }: ServicePlan,
  { client, recorder, tracker, metrics }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const owner = keyOf(service);
  const writer = { client, tracker, owner, ownerName: `Service ${owner}`, onWritten: metrics.written };
  const topology = wantsTopologyHints(service) ? 'Auto' : 'Disabled';
  const failures: Error[] = [];
  for (const plan of plans) {
    const { changes, events, skipped } = plan;
    failures.push(...skipped.map((message) => new Error(message)));
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

/** Throws them as one, in the words that users find in events. */
function throwFailures(failures: readonly Error[]): void {
  const [first] = failures;
  if (first === undefined) return;
  const causes = failures.map(({ cause }) => cause).filter((cause) => cause instanceof Error);
  const terminating = causes.find(isNamespaceTerminating);
  if (terminating !== undefined) throw terminating;
  const messages = [...new Set(failures.map(({ message }) => message))];
  const message = messages.length === 1 ? first.message : `[${messages.join(', ')}]`;
  throw new EndpointSliceSyncError(message, { cause: causes.find(isConflict) ?? first });
}

export class EndpointSliceSyncError extends Error {
  override readonly name = 'EndpointSliceSyncError';
  readonly reason = 'EndpointSliceSyncFailed';
}
