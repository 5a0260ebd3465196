import {
  keyOf,
  metadataOf,
  PersistentVolumeClaims,
  Pods,
  type Cached,
  type PersistentVolumeClaim,
  type Pod,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { AttemptError, isNamespaceTerminating, serverMessage, type Client } from '../../pkg/client/index.ts';
import { RefusedError, type PendingWrites } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { EphemeralVolumeMetrics } from './metrics.ts';
import type { Action } from './plan.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly metrics: EphemeralVolumeMetrics;
  /** The claims that were created for a pod. */
  readonly pending: PendingWrites<PersistentVolumeClaim>;
}

/** Creates claims in the order of the volumes. A volume that fails is tried again, with those after it, later. */
export async function applyPlan(
  actions: readonly Action[],
  pod: Cached<Pod>,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const action of actions) {
    const fail = (problem: string): void => {
      const message = `ephemeral volume ${action.volume}: ${problem}`;
      deps.recorder.event(Pods, pod, { type: 'Warning', reason: 'FailedBinding', message });
    };
    if (action.kind === 'conflict') {
      fail(action.problem);
      throw new RefusedError(`ephemeral volume ${action.volume}: ${action.problem}`);
    }
    try {
      await createClaim(action.claim, pod, deps, signal);
    } catch (error) {
      // A terminating namespace takes no events either.
      const isWorthAnEvent = !signal.aborted && !isNamespaceTerminating(error);
      if (isWorthAnEvent) fail(`create PVC ${action.claim.metadata.name ?? ''}: ${serverMessage(error)}`);
      throw new AttemptError(`create the claim of ephemeral volume ${action.volume}`, error);
    }
  }
}

async function createClaim(
  claim: Unsaved<PersistentVolumeClaim>,
  pod: Cached<Pod>,
  { client, metrics, pending }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  metrics.creates.inc();
  try {
    const { metadata } = await client.create(metadataOf(PersistentVolumeClaims), claim, signal);
    pending.wrote(keyOf(pod), metadata.resourceVersion);
  } catch (error) {
    metrics.failures.inc();
    throw error;
  }
}
