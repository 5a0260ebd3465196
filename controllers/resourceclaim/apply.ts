import {
  apiVersionOf,
  copyOf,
  isControlledBy,
  keyOf,
  metadataOf,
  ResourceClaims,
  type Cached,
  type ObjectKey,
  type ResourceClaim,
  type ResourceClaimConsumer,
  type Unsaved,
} from '../../pkg/api/index.ts';
import {
  AttemptError,
  isNamespaceTerminating,
  isNotFound,
  serverMessage,
  type Client,
} from '../../pkg/client/index.ts';
import { RefusedError, type PendingWrites } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { ClaimUser } from '../../pkg/resourceclaims/index.ts';
import { claimFinalizer, type ClaimPlan } from './claim-plan.ts';
import type { ResourceClaimMetrics } from './metrics.ts';
import { hasAdminAccess } from './new-claim.ts';
import { entryOf, isPod, type Reservation, type UserStep, type UserView } from './user-plan.ts';

const fieldManager = 'ResourceClaimController';

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly metrics: ResourceClaimMetrics;
  /** Writes of claims, by the key that they were made for. */
  readonly pendingClaims: PendingWrites<ResourceClaim>;
  /** Writes of pods and groups, by their key. */
  readonly wroteStatus: (kind: UserView['kind'], key: ObjectKey, resourceVersion: string) => void;
  /** The key of the reconcile. */
  readonly key: ObjectKey;
}

/** Carries out the steps of a pod or group. Returns whether something was written. */
export async function applySteps(
  steps: readonly UserStep[],
  { user, kind }: { readonly user: ClaimUser; readonly kind: UserView['kind'] },
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const names = new Map<string, string>();
  let hasNews = false;
  for (const step of steps) {
    if (step.kind === 'record') {
      names.set(step.entry, step.claimName);
      hasNews ||= step.isNew;
      continue;
    }
    const fail = (problem: string): void => {
      const message = `${isPod(user) ? 'PodResourceClaim' : 'PodGroupResourceClaim'} ${step.entry}: ${problem}`;
      deps.recorder.event(kind, user, { type: 'Warning', reason: 'FailedResourceClaimCreation', message });
    };
    if (step.kind === 'fail') {
      fail(step.problem);
      throw new RefusedError(`create the claim ${step.entry}: ${step.problem}`);
    }
    try {
      names.set(step.entry, await createClaim(step.claim, deps, signal));
      hasNews = true;
    } catch (error) {
      // A terminating namespace takes no events either.
      if (!signal.aborted && !isNamespaceTerminating(error)) fail(`create ResourceClaim : ${serverMessage(error)}`);
      throw new AttemptError(`create the claim ${step.entry}`, error);
    }
  }
  if (hasNews) await recordNames(names, { user, kind }, deps, signal);
  return hasNews;
}

async function createClaim(
  claim: Unsaved<ResourceClaim>,
  { client, metrics, pendingClaims, key }: ApplyDeps,
  signal: AbortSignal,
): Promise<string> {
  const admin_access = String(hasAdminAccess(claim.spec));
  try {
    const { metadata } = await client.create(metadataOf(ResourceClaims), claim, signal);
    metrics.creates.with({ status: 'success', admin_access }).inc();
    pendingClaims.wrote(key, metadata.resourceVersion);
    return metadata.name;
  } catch (error) {
    metrics.creates.with({ status: 'failure', admin_access }).inc();
    throw error;
  }
}

/** All names are applied, not only the new ones: names that are not applied again would be removed from the status. */
async function recordNames(
  names: ReadonlyMap<string, string>,
  { user, kind }: { readonly user: ClaimUser; readonly kind: UserView['kind'] },
  { client, key, wroteStatus }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace, uid } = user.metadata;
  const resourceClaimStatuses = [...names].map(([entry, resourceClaimName]) => ({ name: entry, resourceClaimName }));
  const body = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name, namespace, uid },
    status: { resourceClaimStatuses },
  };
  const patch = { type: 'apply', subresource: 'status', fieldManager, force: true, body } as const;
  try {
    const { metadata } = await client.patch(metadataOf(kind), keyOf(user), patch, signal);
    wroteStatus(kind, key, metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error)) throw error; // the garbage collector deletes the claims of a user that is gone
  }
}

export async function applyReservations(
  reservations: readonly Reservation[],
  { client, pendingClaims, key }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const { claim, consumer } of reservations) {
    const changed = copyOf<ResourceClaim>(claim);
    changed.status = { ...changed.status, reservedFor: [...(changed.status?.reservedFor ?? []), consumer] };
    try {
      const { metadata } = await client.updateStatus(metadataOf(ResourceClaims), changed, signal);
      pendingClaims.wrote(key, metadata.resourceVersion);
    } catch (error) {
      throw new AttemptError(`reserve claim ${keyOf(claim)}`, error);
    }
  }
}

/** Updates, not patches: they fail if the claim was allocated or reserved meanwhile. */
export async function applyClaimPlan(
  { status, removesFinalizer, deletes }: ClaimPlan,
  claim: Cached<ResourceClaim>,
  { client, pendingClaims, key }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = claim.metadata;
  let current = copyOf<ResourceClaim>(claim);
  try {
    if (status !== undefined) {
      current.status = statusAfter(current.status, status);
      current = await client.updateStatus(ResourceClaims, current, signal);
      pendingClaims.wrote(key, current.metadata.resourceVersion);
    }
    if (removesFinalizer) {
      const finalizers = (current.metadata.finalizers ?? []).filter((name) => name !== claimFinalizer);
      const freed = { ...current, metadata: { ...current.metadata, finalizers } };
      const { metadata } = await client.update(metadataOf(ResourceClaims), freed, signal);
      pendingClaims.wrote(key, metadata.resourceVersion);
    }
    if (deletes) {
      await client.delete(ResourceClaims, keyOf(claim), { preconditions: { uid } }, signal);
      pendingClaims.deleted(key, keyOf(claim), uid);
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
    pendingClaims.vanished(key, keyOf(claim), uid);
  }
}

type Status = ResourceClaim['status'];

function statusAfter(status: Status, { reservedFor, deallocates }: NonNullable<ClaimPlan['status']>): Status {
  const { allocation, ...rest } = status ?? {};
  return {
    ...rest,
    ...(!deallocates && { allocation }),
    reservedFor: reservedFor.length === 0 ? undefined : copyOf<ResourceClaimConsumer[]>(reservedFor),
  };
}

/**
 * The answer to a create was lost: the claim may exist, and the cache may not show it yet. Asks the server, so that no
 * second claim is made for the entry.
 */
export async function findLostClaims(
  user: ClaimUser,
  { client, pendingClaims, key }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const options = { namespace: user.metadata.namespace };
  const { items } = await client.listAll(metadataOf(ResourceClaims), options, signal);
  for (const claim of items) {
    if (isControlledBy(claim, user) && entryOf(claim) !== undefined) {
      pendingClaims.wrote(key, claim.metadata.resourceVersion);
    }
  }
}
