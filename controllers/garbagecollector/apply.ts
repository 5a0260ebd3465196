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
import type { PropagationPolicy } from './decide.ts';
import type { Identity } from './identity.ts';
import { isAbsent, placeOf, readLive } from './live.ts';

/** An object and what it was when the decision about it was made. */
export interface Target {
  readonly kind: Kind;
  readonly identity: Pick<Identity, 'namespace' | 'name' | 'uid'>;
  readonly live: Cached<StoredMeta>;
}

/** All that the garbage collector writes. */
export interface Writer {
  /** Deletes what was looked at, and nothing else. False: it is gone already. */
  deleteObject(target: Target, policy: PropagationPolicy, signal: AbortSignal): Promise<boolean>;
  removeOwners(
    target: Omit<Target, 'live'> & Partial<Target>,
    uids: readonly string[],
    signal: AbortSignal,
  ): Promise<void>;
  /** Gives the object as it is afterwards. */
  unblockOwners(target: Target, signal: AbortSignal): Promise<Target>;
  removeFinalizer(target: Target, finalizer: string, signal: AbortSignal): Promise<void>;
}

export function createWriter(client: Client): Writer {
  const patchObject = createPatcher(client);
  return {
    deleteObject: (target, policy, signal) => deleteJudged(client, target, policy, signal),
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
    async unblockOwners({ kind, identity, live }, signal) {
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
    },
    async removeFinalizer({ kind, identity, live }, finalizer, signal) {
      const { resourceVersion, finalizers = [] } = live;
      if (!finalizers.includes(finalizer)) return;
      const rest = finalizers.filter((present) => present !== finalizer);
      const body = { metadata: { resourceVersion, finalizers: orNull(rest) } };
      await patch(client, { kind, identity }, { type: 'merge', body }, signal);
    },
  };
}

/** A merge patch empties a list by taking the field away. */
function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

async function deleteJudged(
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
    // Someone else was faster, and has said what becomes of its dependents: our word must not override that.
    if (isBeingDeleted(changed)) return true;
    if (!isEqualJson(changed.ownerReferences, live.ownerReferences)) throw error; // to be judged anew
    // Any other change is no reason to keep the object: one that changes all the time would never go.
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
  /** From the object as it is, and only valid for that. */
  readonly merge: (live: Cached<StoredMeta>) => unknown;
}

type Patcher = (
  target: Omit<Target, 'live'> & { readonly live?: Target['live'] | undefined },
  patches: TwoPatches,
  signal: AbortSignal,
) => Promise<Cached<StoredMeta> | undefined>;

/**
 * Patches strategically, where single owners can be named, and by merging where the server refuses that, as for custom
 * resources. Gives the object as it is afterwards; undefined if it is gone.
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
        mergedOnly.add(resource); // once is enough to know it of a resource
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
