import {
  isEqualJson,
  metadataOf,
  resourceName,
  isBeingDeleted,
  type Cached,
  type Kind,
  type OwnerReference,
  type StoredMeta,
} from '../../pkg/api/index.ts';
import { isConflict, isUnsupportedMediaType, type Client, type Patch } from '../../pkg/client/index.ts';
import type { Action, PropagationPolicy } from './decide.ts';
import type { Identity } from './identity.ts';
import { isAbsent, placeOf, readLive } from './live.ts';

/** An object, and its metadata when the decision was made. */
export interface Target {
  readonly kind: Kind;
  readonly identity: Pick<Identity, 'namespace' | 'name' | 'uid'>;
  readonly live: Cached<StoredMeta>;
}

/** All writes of the garbage collector. */
export interface Writer {
  /** Writes the action. True if the object turns out to be gone. */
  apply(action: Action, target: Target, signal: AbortSignal): Promise<boolean>;
  removeOwners(
    target: Omit<Target, 'live'> & Partial<Target>,
    uids: readonly string[],
    signal: AbortSignal,
  ): Promise<void>;
  removeFinalizer(target: Target, finalizer: string, signal: AbortSignal): Promise<void>;
}

export function createWriter(client: Client): Writer {
  const patchObject = createPatcher(client);
  const writer: Writer = {
    async apply(action, target, signal) {
      switch (action.type) {
        case 'none':
        case 'attempt':
          return false;
        case 'removeFinalizer':
          await writer.removeFinalizer(target, action.finalizer, signal);
          return false;
        case 'removeOwners':
          await writer.removeOwners(target, action.uids, signal);
          return false;
        case 'delete': {
          const current = action.unblockOwners ? await unblockOwners(patchObject, target, signal) : target;
          return !(await deleteObject(client, current, action.policy, signal));
        }
      }
    },
    async removeOwners({ kind, identity, live }, uids, signal) {
      const ownerReferences = uids.map((uid) => ({ $patch: 'delete', uid }));
      const strategic = { metadata: { uid: identity.uid, ownerReferences } };
      const merge = ({ resourceVersion, ownerReferences: owners = [] }: Cached<StoredMeta>): unknown => {
        return {
          metadata: { resourceVersion, ownerReferences: orNull(owners.filter(({ uid }) => !uids.includes(uid))) },
        };
      };
      await patchObject({ kind, identity, live }, { strategic, merge }, signal);
    },
    async removeFinalizer({ kind, identity, live }, finalizer, signal) {
      const { resourceVersion, finalizers = [] } = live;
      if (!finalizers.includes(finalizer)) return;
      const rest = finalizers.filter((present) => present !== finalizer);
      const body = { metadata: { resourceVersion, finalizers: orNull(rest) } };
      await patch(client, { kind, identity }, { type: 'merge', body }, signal);
    },
  };
  return writer;
}

/** Sets `blockOwnerDeletion` to false in all owner references. Returns the object after the write. */
async function unblockOwners(
  patchObject: Patcher,
  { kind, identity, live }: Target,
  signal: AbortSignal,
): Promise<Target> {
  const unblocked = (owner: Cached<OwnerReference>): Cached<OwnerReference> => {
    return { ...owner, blockOwnerDeletion: false };
  };
  const blocking = (live.ownerReferences ?? []).filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
  if (blocking.length === 0) return { kind, identity, live };
  const strategic = { metadata: { uid: identity.uid, ownerReferences: blocking.map(unblocked) } };
  const merge = ({ resourceVersion, ownerReferences = [] }: Cached<StoredMeta>): unknown => {
    return { metadata: { resourceVersion, ownerReferences: ownerReferences.map(unblocked) } };
  };
  const patched = await patchObject({ kind, identity, live }, { strategic, merge }, signal);
  return { kind, identity, live: patched ?? live };
}

/** A merge patch removes a list with null. */
function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

/** Deletes the object as it was when the decision was made. False if it is already gone. */
async function deleteObject(
  client: Client,
  target: Target,
  policy: PropagationPolicy,
  signal: AbortSignal,
): Promise<boolean> {
  const { kind, identity, live } = target;
  try {
    return await deleteIf(client, target, { policy, resourceVersion: live.resourceVersion }, signal);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const changed = await readLive(client, kind, identity, signal);
    if (changed === undefined) return false;
    // Another client has deleted it with its own propagation policy, which we must not override.
    if (isBeingDeleted(changed)) return true;
    if (!isEqualJson(changed.ownerReferences, live.ownerReferences)) throw error; // decide again
    // Ignore other changes: an object that changes all the time would never be deleted.
    return deleteIf(client, target, { policy }, signal);
  }
}

async function deleteIf(
  client: Client,
  { kind, identity }: Omit<Target, 'live'>,
  { policy, resourceVersion }: { readonly policy: PropagationPolicy; readonly resourceVersion?: string },
  signal: AbortSignal,
): Promise<boolean> {
  const preconditions = { uid: identity.uid, resourceVersion };
  try {
    await client.delete(kind, placeOf(kind, identity), { propagationPolicy: policy, preconditions }, signal);
    return true;
  } catch (error) {
    if (await isAbsent({ client, kind, identity }, error, signal)) return false;
    throw error;
  }
}

interface TwoPatches {
  readonly strategic: unknown;
  /** Computed from the live object, and valid only for that version. */
  readonly merge: (live: Cached<StoredMeta>) => unknown;
}

type Patcher = (
  target: Omit<Target, 'live'> & { readonly live?: Target['live'] | undefined },
  patches: TwoPatches,
  signal: AbortSignal,
) => Promise<Cached<StoredMeta> | undefined>;

/**
 * Uses a strategic merge patch, which can name single owners. Falls back to a merge patch where the API server does not
 * support it, as for custom resources. Returns the metadata after the write; undefined if the object is gone.
 */
function createPatcher(client: Client): Patcher {
  const mergedOnly = new Set<string>();
  return async ({ kind, identity, live }, { strategic, merge }, signal) => {
    const resource = resourceName(kind);
    if (!mergedOnly.has(resource)) {
      try {
        return await patch(client, { kind, identity }, { type: 'strategic', body: strategic }, signal);
      } catch (error) {
        if (!isUnsupportedMediaType(error)) throw error;
        mergedOnly.add(resource); // do not try again for this resource
      }
    }
    const present = live ?? (await readLive(client, kind, identity, signal));
    if (present === undefined) return undefined;
    return patch(client, { kind, identity }, { type: 'merge', body: merge(present) }, signal);
  };
}

async function patch(
  client: Client,
  { kind, identity }: Omit<Target, 'live'>,
  body: Patch,
  signal: AbortSignal,
): Promise<Cached<StoredMeta> | undefined> {
  try {
    return (await client.patch(metadataOf(kind), placeOf(kind, identity), body, signal)).metadata;
  } catch (error) {
    if (await isAbsent({ client, kind, identity }, error, signal)) return undefined;
    throw error;
  }
}
