import {
  controllerOf,
  controllerReference,
  keyOf,
  isBeingDeleted,
  type Cached,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type Selector,
} from '../api/index.ts';
import { isInvalid, isNotFound, type Client } from '../client/index.ts';

/** The candidates that an owner already controls, those to adopt, and those to release. */
export interface ClaimPlan<T> {
  readonly claimed: readonly Cached<T>[];
  readonly adopt: readonly Cached<T>[];
  readonly release: readonly Cached<T>[];
}

/**
 * Decides on candidates by their controller, by the owner's selector and by what else makes a member. Objects of another
 * controller are ignored. A terminating owner neither adopts nor releases. A terminating object is not adopted.
 */
export function planClaims<T extends KubeObject>(
  owner: Cached<KubeObject>,
  isSelected: Selector,
  candidates: readonly Cached<T>[],
  isMember: (candidate: Cached<T>) => boolean = () => true,
): ClaimPlan<T> {
  const claimed: Cached<T>[] = [];
  const adopt: Cached<T>[] = [];
  const release: Cached<T>[] = [];
  const isOwnerTerminating = isBeingDeleted(owner.metadata);
  for (const candidate of candidates) {
    const meta: Cached<KubeObject>['metadata'] = candidate.metadata;
    const controller = controllerOf(candidate);
    const selected = isSelected(meta.labels) && isMember(candidate);
    if (controller !== undefined) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (selected) claimed.push(candidate);
      else if (!isOwnerTerminating) release.push(candidate);
    } else if (
      selected &&
      !isOwnerTerminating &&
      !isBeingDeleted(meta) &&
      meta.namespace === owner.metadata.namespace
    ) {
      adopt.push(candidate);
    }
  }
  return { claimed, adopt, release };
}

export class StaleOwnerError extends Error {
  override readonly name = 'StaleOwnerError';
  readonly reason = 'StaleOwner';
}

export interface AppliedClaim<T extends KubeObject> {
  readonly client: Client;
  readonly ownerKind: Kind;
  readonly owner: Cached<KubeObject>;
  readonly kind: Kind<T>;
  /** Added on adoption, removed on release. */
  readonly finalizer?: string | undefined;
  /** Called with every written object, with its metadata after the write. */
  readonly onWritten?: ((written: KubeObject) => void) | undefined;
}

/**
 * Adopts and releases as planned, and returns the objects that the owner controls afterwards. Tries all of them, then
 * throws the first error: the caller must not act on an incomplete claim.
 */
export async function applyClaims<T extends KubeObject>(
  plan: ClaimPlan<T>,
  options: AppliedClaim<T>,
  signal: AbortSignal,
): Promise<readonly Cached<T>[]> {
  if (plan.adopt.length === 0 && plan.release.length === 0) return plan.claimed;
  if (plan.adopt.length > 0) await confirmOwnerIsLive(options, signal);
  const adoptions = plan.adopt.map(async (object) => ((await adopt(object, options, signal)) ? [object] : []));
  const releases = plan.release.map(async (object) => {
    await release(object, options, signal);
    return [];
  });
  const results = await Promise.allSettled([...adoptions, ...releases]);
  const claimed = [...plan.claimed];
  for (const result of results) {
    if (result.status === 'rejected') throw result.reason;
    claimed.push(...result.value);
  }
  return claimed;
}

async function confirmOwnerIsLive<T extends KubeObject>(options: AppliedClaim<T>, signal: AbortSignal): Promise<void> {
  // A cache lags behind deletes: the owner may be terminating by now, or recreated with another uid. The garbage
  // collector would delete the objects that it adopts. One live read before the first adoption prevents that.
  const { client, ownerKind, owner } = options;
  const key: ObjectKey = keyOf(owner);
  const live = await client.get(ownerKind, key, signal);
  if (live.metadata.uid !== owner.metadata.uid) {
    throw new StaleOwnerError(
      `${ownerKind.kind} ${key} has been replaced: live uid ${live.metadata.uid}, cached ${owner.metadata.uid}`,
    );
  }
  if (isBeingDeleted(live.metadata)) {
    throw new StaleOwnerError(`${ownerKind.kind} ${key} is being deleted since ${live.metadata.deletionTimestamp}`);
  }
}

async function adopt<T extends KubeObject>(
  object: Cached<T>,
  { client, ownerKind, owner, kind, finalizer, onWritten }: AppliedClaim<T>,
  signal: AbortSignal,
): Promise<boolean> {
  const { uid } = (object as Cached<KubeObject>).metadata;
  const metadata = {
    uid, // makes the server refuse the patch if another object has the name now
    ownerReferences: [controllerReference(ownerKind, owner)],
    ...(finalizer === undefined ? {} : { finalizers: [finalizer] }),
  };
  try {
    onWritten?.(await client.patch(kind, keyOf(object), { type: 'strategic', body: { metadata } }, signal));
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function release<T extends KubeObject>(
  object: Cached<T>,
  { client, owner, kind, finalizer, onWritten }: AppliedClaim<T>,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = (object as Cached<KubeObject>).metadata;
  const metadata = {
    uid,
    ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }],
    ...(finalizer === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': [finalizer] }),
  };
  try {
    onWritten?.(await client.patch(kind, keyOf(object), { type: 'strategic', body: { metadata } }, signal));
  } catch (error) {
    // The object is gone, or another object has its name: in both cases there is nothing left to release.
    if (!isNotFound(error) && !isInvalid(error)) throw error;
  }
}
