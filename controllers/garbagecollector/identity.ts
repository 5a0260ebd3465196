import type { Cached, OwnerReference } from '../../pkg/api/index.ts';

/** The identity of an object. Names can be reused, uids cannot. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The relevant part of an `OwnerReference`. The owner's namespace is that of the object. */
export interface Reference extends Omit<Identity, 'namespace'> {
  /** `blockOwnerDeletion`: the foreground deletion of the owner waits for this object. */
  readonly blocks: boolean;
}

/** An object with owner references, and its namespace. */
export interface Referrer {
  readonly namespace: string;
  readonly owners: readonly Reference[];
}

export const noReferences: readonly Reference[] = [];

export function referencesOf(wire: readonly Cached<OwnerReference>[] | undefined): readonly Reference[] {
  if (wire === undefined || wire.length === 0) return noReferences;
  return wire.map(({ apiVersion, kind, name, uid, blockOwnerDeletion }) => ({
    apiVersion,
    kind,
    name,
    uid,
    blocks: blockOwnerDeletion === true,
  }));
}

/** Whether the references equal those of an object, in the same order. */
export function areReferences(
  references: readonly Reference[],
  wire: readonly Cached<OwnerReference>[] | undefined = [],
): boolean {
  return (
    references.length === wire.length &&
    references.every((reference, index) => {
      const other = wire[index];
      return (
        other !== undefined &&
        isSameObject(reference, other) &&
        reference.blocks === (other.blockOwnerDeletion === true)
      );
    })
  );
}

/** Whether two references are equal, except for namespace and `blocks`. */
export function isSameObject(a: Omit<Identity, 'namespace'>, b: Omit<Identity, 'namespace'>): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

export function isSameIdentity(a: Identity, b: Identity): boolean {
  return a.namespace === b.namespace && isSameObject(a, b);
}

export function identityOf({ apiVersion, kind, namespace, name, uid }: Identity): Identity {
  return { apiVersion, kind, namespace, name, uid };
}

/** The format in events. */
export function formatIdentity({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
}

/** Equal identities have the same key. No part of an identity can contain a space. */
export function identityKey({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return `${uid} ${apiVersion} ${kind} ${namespace} ${name}`;
}

export interface Partition<T> {
  readonly matching: readonly T[];
  readonly other: readonly T[];
}

/**
 * Separates the dependents of a uid: those that refer to this identity, and those that refer to another identity with
 * that uid. A dependent with two references can be in both lists.
 */
export function partitionDependents<T extends Referrer>(dependents: Iterable<T>, owner: Identity): Partition<T> {
  const matching: T[] = [];
  const other: T[] = [];
  for (const dependent of dependents) {
    const isElsewhere = owner.namespace !== '' && owner.namespace !== dependent.namespace;
    const references = dependent.owners.filter(({ uid }) => uid === owner.uid);
    if (!isElsewhere && references.some((reference) => isSameObject(reference, owner))) matching.push(dependent);
    if (isElsewhere || references.some((reference) => !isSameObject(reference, owner))) other.push(dependent);
  }
  return { matching, other };
}

/**
 * The next identity that the dependents refer to with this uid, after `absent` was found not to exist. Identities are
 * tried in order, and the first follows the last, so that each is tried.
 */
export function nextIdentity(dependents: Iterable<Referrer>, absent: Identity): Identity | undefined {
  const candidates: Identity[] = [];
  for (const { namespace, owners } of dependents) {
    for (const reference of owners) {
      if (reference.uid !== absent.uid) continue;
      // `absent` was read without a namespace, so its kind is cluster-scoped.
      const isClusterWide =
        absent.namespace === '' && reference.apiVersion === absent.apiVersion && reference.kind === absent.kind;
      const candidate = identityOf({ ...reference, namespace: isClusterWide ? '' : namespace });
      if (!isSameIdentity(candidate, absent)) candidates.push(candidate);
    }
  }
  candidates.sort(compareIdentities);
  return candidates.find((candidate) => compareIdentities(absent, candidate) < 0) ?? candidates[0];
}

/** Sorts by kind first, then by namespace and name. */
function compareIdentities(a: Identity, b: Identity): number {
  return (
    compare(a.kind, b.kind) ||
    compare(a.apiVersion, b.apiVersion) ||
    compare(a.namespace, b.namespace) ||
    compare(a.name, b.name)
  );
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
