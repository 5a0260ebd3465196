import {
  isBeingDeleted,
  keyOf,
  metadataOf,
  StatefulSets,
  type Cached,
  type ControllerRevision,
  type Pod,
  type StatefulSet,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isConflict, isNotFound } from '../../pkg/client/index.ts';
import {
  asError,
  decided,
  type PendingWrites,
  type ReconcileResult,
  type StatusPace,
} from '../../pkg/controller/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { applyPods, type ApplyDeps, type PodsOutcome } from './apply.ts';
import { applyUpdateRevision, deleteRevisions, type HistoryDeps } from './apply-history.ts';
import type { KnownClaims } from './claims.ts';
import { planUpdateRevision, selectCurrentRevision, selectSurplus, versionOf } from './history.ts';
import type { Versions } from './identity.ts';
import type { StatefulSetMetrics } from './metrics.ts';
import { planPods } from './plan.ts';
import { ordinalOf } from './ordinals.ts';
import type { Arrangement } from './replicas.ts';
import { countUnavailable, maxUnavailableOf } from './rolling.ts';
import { computeStatus, decidesRevisions, isStatusCurrent, nextStatusChangeMs, type Status } from './status.ts';

export interface Snapshot {
  readonly set: Cached<StatefulSet>;
  readonly pods: readonly Cached<Pod>[];
  /** The same pods, each in its place. */
  readonly arrangement: Arrangement;
  /** Oldest first. */
  readonly revisions: readonly Cached<ControllerRevision>[];
  readonly claims: KnownClaims;
}

export interface SyncDeps extends ApplyDeps, HistoryDeps {
  readonly pendingSets: PendingWrites<StatefulSet>;
  readonly statusPace: StatusPace;
  readonly clock: Pick<Clock, 'now'>;
  readonly metrics: StatefulSetMetrics;
  readonly gates: {
    /** StatefulSetSemanticRevisionComparison */
    readonly comparesMeaning: boolean;
    /** MaxUnavailableStatefulSet */
    readonly maxUnavailable: boolean;
  };
}

/** Stores the revision, creates, updates and deletes pods, writes the status, and truncates the history. */
export async function syncStatefulSet(
  snapshot: Snapshot,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { set, pods, revisions } = snapshot;
  const planned = planUpdateRevision(set, revisions, deps.gates);
  // A set that is being deleted gets only a status. Its revisions may already be orphaned.
  if (isBeingDeleted(set.metadata) && planned.kind !== 'known') return {};
  const { revision: update, collisionCount } = await applyUpdateRevision(planned, set, deps, signal);
  const current = selectCurrentRevision(set, revisions, update);
  const versions = { current: versionOf(set, current), update: versionOf(set, update) };
  const nowMs = deps.clock.now();
  const outcome = await syncPods({ ...snapshot, versions, nowMs }, deps, signal);
  const { minReadySeconds = 0 } = set.spec;
  const counted = isBeingDeleted(set.metadata) ? pods : pods.filter((pod) => ordinalOf(pod) !== undefined);
  const { deletedForUpdate } = outcome;
  const input = { set, pods: counted, versions, collisionCount, deletedForUpdate, minReadySeconds, nowMs };
  const status = computeStatus(input);
  const waitMs = statusWaitMs(set, status, outcome, deps.statusPace);
  const errors = [
    outcome.error,
    waitMs > 0 ? undefined : await failureOf(() => writeStatus(set, status, deps, signal)),
    await failureOf(() => {
      const surplus = selectSurplus(set, revisions, { pods, live: [current, update] });
      return deleteRevisions(surplus, set, deps, signal);
    }),
  ];
  const error = errors.find((each) => each !== undefined);
  if (error !== undefined) throw error;
  return { requeueAfterMs: waitMs > 0 ? waitMs : nextStatusChangeMs(set, pods, status, nowMs) };
}

/**
 * How long the status has to wait. The status of a new generation, of a failure, and one by which the next sync chooses
 * revisions, is written at once.
 */
function statusWaitMs(
  set: Cached<StatefulSet>,
  status: Status,
  { changesPods, error }: PodsOutcome,
  statusPace: StatusPace,
): number {
  const isObserved = set.metadata.generation === set.status?.observedGeneration;
  if (!isObserved || error !== undefined || decidesRevisions(set, status)) return 0;
  const isCurrent = isStatusCurrent(set, status);
  return statusPace.waitMs(keyOf(set), { expectsMore: changesPods, isCurrent });
}

async function syncPods(
  { set, arrangement, claims, versions, nowMs }: Snapshot & { readonly versions: Versions; readonly nowMs: number },
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<PodsOutcome> {
  const availability = { minReadySeconds: set.spec.minReadySeconds ?? 0, nowMs };
  const maxUnavailable = deps.gates.maxUnavailable ? maxUnavailableOf(set) : undefined;
  const plan = decided(planPods({ set, arrangement, versions, claims, maxUnavailable, ...availability }));
  const outcome = await applyPods(plan, set, deps, signal);
  if (maxUnavailable === undefined) return outcome;
  // Like the Go binary: a sync that does not come to the update leaves the number of the last that did.
  const lacking = outcome.reachedUpdate ? countUnavailable({ arrangement, ...availability }) : undefined;
  deps.metrics.availability(set, maxUnavailable, lacking);
  return outcome;
}

/** Returns the error, so that the later steps are still taken. */
async function failureOf(write: () => Promise<void>): Promise<Error | undefined> {
  try {
    await write();
    return undefined;
  } catch (error) {
    return asError(error);
  }
}

/** Writes the status if it has changed. After a conflict, writes it once more to the live object. */
async function writeStatus(
  set: Cached<StatefulSet>,
  status: Status,
  { client, pendingSets, statusPace }: Pick<SyncDeps, 'client' | 'pendingSets' | 'statusPace'>,
  signal: AbortSignal,
): Promise<void> {
  if (isStatusCurrent(set, status)) return;
  const write = async (base: Cached<StatefulSet>): Promise<void> => {
    const updated = { ...base, status } as Unsaved<StatefulSet>;
    const { metadata } = await client.updateStatus(metadataOf(StatefulSets), updated, signal);
    pendingSets.wrote(keyOf(set), metadata.resourceVersion);
    statusPace.wrote(keyOf(set));
  };
  try {
    await write(set);
  } catch (error) {
    if (isNotFound(error)) return;
    if (!isConflict(error)) throw error;
    const live = await client.get(StatefulSets, keyOf(set), signal);
    if (live.metadata.uid === set.metadata.uid) await write(live);
  }
}
