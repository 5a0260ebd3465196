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

/** Which of the candidates belong to an owner already, which should, and which no longer do. */
export interface ClaimPlan<T> {
  readonly claimed: readonly Cached<T>[];
  readonly adopt: readonly Cached<T>[];
  readonly release: readonly Cached<T>[];
}

/**
 * Sorts candidates by who manages them and whether they are selected. What another controller manages is left alone;
 * an owner that is going away neither adopts nor releases; what is going away itself is not adopted.
 */
export function planClaims<T extends KubeObject>(
  owner: Cached<KubeObject>,
  isSelected: Selector,
  candidates: readonly Cached<T>[],
): ClaimPlan<T> {
  const claimed: Cached<T>[] = [];
  const adopt: Cached<T>[] = [];
  const release: Cached<T>[] = [];
  const ownerIsLeaving = isBeingDeleted(owner.metadata);
  for (const candidate of candidates) {
    const meta: Cached<KubeObject>['metadata'] = candidate.metadata;
    const controller = controllerOf(candidate);
    const selected = isSelected(meta.labels);
    if (controller !== undefined) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (selected) claimed.push(candidate);
      else if (!ownerIsLeaving) release.push(candidate);
    } else if (selected && !ownerIsLeaving && !isBeingDeleted(meta) && meta.namespace === owner.metadata.namespace) {
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
  /** Added on adoption and taken off on release. */
  readonly finalizer?: string | undefined;
  /** Told of every object that was written, with the metadata it has now. */
  readonly onWritten?: ((written: KubeObject) => void) | undefined;
}

/**
 * Carries out adoptions and releases and returns what the owner now has. Tries them all, then throws the first
 * failure: half a claim must not be acted upon.
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
  // A cache lags behind deletes: by now the owner may be terminating, or have been recreated under its name with
  // another uid. Adopting for it would hand objects to an owner that the garbage collector is about to clear away,
  // and them with it. One live read before the first adoption rules that out.
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
    uid, // makes the server refuse if the name has come to mean another object
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
    // Gone, or no longer the object we knew: either way it is not ours any more.
    if (!isNotFound(error) && !isInvalid(error)) throw error;
  }
}
