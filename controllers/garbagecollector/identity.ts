import type { Cached, OwnerReference } from '../../pkg/api/index.ts';

/** Which object is meant, and where it is said to be. Names are used again, uids never. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for what lives in no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** An owner, as an object refers to it: what of an `OwnerReference` decides. Its namespace is that of the object. */
export interface Reference extends Omit<Identity, 'namespace'> {
  /** `blockOwnerDeletion`: an owner deleted in the foreground stays until the object has gone. */
  readonly blocks: boolean;
}

/** Anything that refers to owners, and the namespace that it says they are in. */
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

/** Whether the references say the same as those of an object, in the same order. */
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

/** Whether two references agree on everything that says where an owner is and which one. */
export function isSameObject(a: Omit<Identity, 'namespace'>, b: Omit<Identity, 'namespace'>): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

export function isSameIdentity(a: Identity, b: Identity): boolean {
  return a.namespace === b.namespace && isSameObject(a, b);
}

export function identityOf({ apiVersion, kind, namespace, name, uid }: Identity): Identity {
  return { apiVersion, kind, namespace, name, uid };
}

/** As users read it in events. */
export function formatIdentity({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
}

/** A key under which equal identities are found. No part of one can hold a space. */
export function identityKey({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return `${uid} ${apiVersion} ${kind} ${namespace} ${name}`;
}

export interface Partition<T> {
  readonly matching: readonly T[];
  readonly other: readonly T[];
}

/**
 * Parts the dependents of a uid into those that mean this identity by it and those that mean another. One that refers
 * to it twice can be both.
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
 * What else the dependents may mean by a uid, once `absent` has been found not to exist: the next identity in order
 * behind it, and from the last back to the first, so that each has its turn.
 */
export function nextIdentity(dependents: Iterable<Referrer>, absent: Identity): Identity | undefined {
  const candidates: Identity[] = [];
  for (const { namespace, owners } of dependents) {
    for (const reference of owners) {
      if (reference.uid !== absent.uid) continue;
      // The absent one was asked for outside all namespaces, so its kind is known to live there.
      const isClusterWide =
        absent.namespace === '' && reference.apiVersion === absent.apiVersion && reference.kind === absent.kind;
      const candidate = identityOf({ ...reference, namespace: isClusterWide ? '' : namespace });
      if (!isSameIdentity(candidate, absent)) candidates.push(candidate);
    }
  }
  candidates.sort(compareIdentities);
  return candidates.find((candidate) => compareIdentities(absent, candidate) < 0) ?? candidates[0];
}

/** Kinds come together, in whatever namespaces. */
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
