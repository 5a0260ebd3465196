import {
  formatGoSelector,
  type Cached,
  type Pod,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
} from '../../pkg/api/index.ts';
import { serverMessage } from '../../pkg/client/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { countHealthyPods, selectDisruptedPods } from './disrupted-pods.ts';
import { computeExpectation, type ControllerScale, type Failed } from './expectation.ts';
import { changedFailureStatus, changedStatus } from './status.ts';

export interface BudgetSnapshot {
  readonly budget: Cached<PodDisruptionBudget>;
  /** The pods that the budget selects. */
  readonly pods: readonly Cached<Pod>[];
  /** By the uid in the owner reference of pods. */
  readonly scales: ReadonlyMap<string, ControllerScale>;
  readonly nowMs: number;
}

export interface BudgetPlan {
  /** Events about the budget. */
  readonly events: readonly NewEvent[];
  /** Events about pods. */
  readonly podEvents: readonly { readonly pod: Cached<Pod>; readonly event: NewEvent }[];
  /** The status to write; undefined if the budget already has it. */
  readonly status: PodDisruptionBudgetStatus | undefined;
  /** When an eviction times out, or when to try again after a lasting failure. */
  readonly recheckAfterMs?: number | undefined;
  /** Why the budget could not be computed. The status says so too. */
  readonly failure?: Failed | undefined;
}

/**
 * When to try again after a failure that only another pod or another API ends. Pods enqueue their budget; an API, as the
 * definition of a custom resource, does not.
 */
const lastingFailureMs = 5 * 60_000;

export function planBudget({ budget, pods, scales, nowMs }: BudgetSnapshot): BudgetPlan {
  const noPods: NewEvent[] =
    pods.length === 0 ? [{ type: 'Normal', reason: 'NoPods', message: 'No matching pods found' }] : [];
  const expectation = computeExpectation(budget, pods, scales);
  if (expectation.kind === 'failed') return planFailure(budget, expectation, nowMs);

  const { expectedPods, desiredHealthy, unmanagedPods } = expectation;
  const { waiting, notDeleted, nextTimeoutMs } = selectDisruptedPods(budget, pods, nowMs);
  const currentHealthy = countHealthyPods(pods, waiting, nowMs);
  const counts = { currentHealthy, desiredHealthy, expectedPods, disruptedPods: waiting };
  return {
    events: [...noPods, ...(unmanagedPods.length > 0 ? [unmanagedEvent(budget)] : [])],
    podEvents: notDeleted.map((pod) => ({ pod, event: notDeletedEvent(budget) })),
    status: changedStatus(budget, counts, nowMs),
    recheckAfterMs: nextTimeoutMs === undefined ? undefined : Math.max(1, nextTimeoutMs - nowMs),
  };
}

/** Reports the failure in an event and in the status. A failure that the status already has is not reported again. */
function planFailure(budget: Cached<PodDisruptionBudget>, failure: Failed, nowMs: number): BudgetPlan {
  const cause = serverMessage(failure.error);
  const status = changedFailureStatus(budget, cause, nowMs);
  const message = `Failed to calculate the number of expected pods: ${cause}`;
  const event: NewEvent = { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message };
  const recheckAfterMs = failure.isLasting ? lastingFailureMs : undefined;
  return { events: status === undefined ? [] : [event], podEvents: [], status, recheckAfterMs, failure };
}

function unmanagedEvent({ spec }: Cached<PodDisruptionBudget>): NewEvent {
  const message =
    `Pods selected by this PodDisruptionBudget (selector: ${formatGoSelector(spec?.selector)}) were found ` +
    'to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined ' +
    'behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';
  return { type: 'Warning', reason: 'UnmanagedPods', message };
}

/** The Go binary names the namespace twice, and the budget not at all. */
function notDeletedEvent({ metadata: { namespace = '' } }: Cached<PodDisruptionBudget>): NewEvent {
  const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
  return { type: 'Warning', reason: 'NotDeleted', message };
}
