import type { Cached, ObjectMeta } from '../../pkg/api/index.ts';
import type { AbsentOwners } from './absent-owners.ts';
import { deletionPhase, type DeletionPhase } from './decide.ts';
import { Node, type GraphNode, type ObjectType } from './graph-node.ts';
import {
  areReferences,
  identityOf,
  isSameIdentity,
  isSameObject,
  nextIdentity,
  noReferences,
  partitionDependents,
  referencesOf,
  type Identity,
  type Reference,
} from './identity.ts';

/** The part of an object's metadata that the graph keeps. */
export type ObservedMeta = Cached<
  Pick<ObjectMeta, 'namespace' | 'ownerReferences' | 'finalizers' | 'deletionTimestamp'>
> & { readonly name: string; readonly uid: string };

/** Called after changes of the graph. */
export interface GraphListener {
  /** The object may be garbage, or its deletion may continue. */
  attemptDelete(uid: string): void;
  attemptOrphan(uid: string): void;
  /** The object refers to an owner in another namespace. Such an owner counts as absent. */
  foundForeignOwner(dependent: GraphNode, owner: Reference): void;
}

/**
 * The owners and dependents of all objects in the cluster. After a change, the graph reports the objects to check. It
 * never decides whether an object is garbage: only the API server can confirm that.
 *
 * An owner that has not been observed yet gets a virtual node, which must be verified. So does an owner whose kind is not
 * watched any more.
 */
export class DependencyGraph {
  readonly #nodes = new Map<string, Node>();
  readonly #absent: AbsentOwners;
  readonly #listener: GraphListener;
  #lastNamespace = '';

  constructor(absent: AbsentOwners, listener: GraphListener) {
    this.#absent = absent;
    this.#listener = listener;
  }

  get size(): number {
    return this.#nodes.size;
  }

  get nodes(): Iterable<GraphNode> {
    return this.#nodes.values();
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  /** A list or watch has returned this state of the object. */
  observe(type: ObjectType, metadata: ObservedMeta): void {
    const identity = this.#identify(type, metadata);
    let node = this.#nodes.get(metadata.uid);
    if (node === undefined) {
      node = new Node(type, identity, true);
      this.#nodes.set(node.uid, node);
    } else if (node.isObserved) {
      node.type = type; // the resource is now watched in another version
    } else {
      this.#becomeObserved(node, type, identity);
    }
    this.#updateOwners(node, metadata);
    this.#updatePhase(node, deletionPhase(metadata));
  }

  /** A list or watch has shown that the object is deleted. */
  forget(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node !== undefined) this.#remove(node, identityOf(node));
  }

  /**
   * The API server has no object with this identity. References to it may be wrong, or mean another identity. A node that
   * is still virtual afterwards must be verified again.
   */
  confirmAbsent(absent: Identity): void {
    const node = this.#nodes.get(absent.uid);
    if (node === undefined) return;
    const { matching, other } = partitionDependents(node.dependents, absent);
    const isSame = isSameIdentity(node, absent);
    if (node.isObserved ? isSame : other.length === 0) {
      this.#remove(node, absent);
      return;
    }
    if (matching.length > 0) this.#absent.add(absent);
    for (const { uid } of matching) this.#listener.attemptDelete(uid);
    const next = node.isObserved || !isSame ? undefined : nextIdentity(other, absent);
    if (next === undefined) return;
    node.type = this.#typeOf(next);
    node.namespace = next.namespace;
    node.name = next.name;
  }

  /** The kind of a virtual node is cluster-scoped, whatever the namespaces of its dependents. */
  confirmClusterWide(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node !== undefined && !node.isObserved) node.namespace = '';
  }

  /** The observed objects of a type that are not in `uids`. Can be iterated in steps while the graph changes. */
  *othersOf(type: ObjectType, uids: ReadonlySet<string>): Generator<string | undefined> {
    for (const node of this.#nodes.values()) {
      yield node.type === type && node.isObserved && !uids.has(node.uid) ? node.uid : undefined;
    }
  }

  /** The object is not watched any more. It blocks no owner, and its dependents must be verified. */
  unobserve(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node === undefined) return;
    this.#detachFromOwners(node);
    node.owners = noReferences;
    node.phase = 'none';
    node.isObserved = false;
    if (node.dependents.size === 0) this.#nodes.delete(uid);
    else this.#listener.attemptDelete(uid);
  }

  /**
   * The dependents that block a foreground deletion. Dependents that wait for the object itself do not count: otherwise
   * a cycle would never be deleted.
   */
  blockersOf(waiting: GraphNode): readonly GraphNode[] {
    const blockers = [...waiting.dependents].filter(({ owners }) => isBlocking(owners, waiting.uid));
    if (blockers.length === 0) return blockers;
    const waitingForIt = this.#waitingFor(waiting);
    return blockers.filter((blocker) => !waitingForIt.has(blocker));
  }

  /** All objects in foreground deletion that wait for this one. */
  #waitingFor(node: GraphNode): ReadonlySet<GraphNode> {
    const found = new Set<GraphNode>();
    const from = [node];
    for (let next = from.pop(); next !== undefined; next = from.pop()) {
      for (const { uid, blocks } of next.owners) {
        const owner = blocks ? this.#nodes.get(uid) : undefined;
        if (owner?.phase !== 'deletingDependents' || found.has(owner)) continue;
        found.add(owner);
        from.push(owner);
      }
    }
    return found;
  }

  #identify(type: ObjectType, { namespace = '', name, uid }: ObservedMeta): Identity {
    // Lists are sorted by namespace: share one string per namespace instead of one per object.
    if (namespace !== this.#lastNamespace) this.#lastNamespace = namespace;
    return { ...type, namespace: this.#lastNamespace, name, uid };
  }

  #becomeObserved(node: Node, type: ObjectType, identity: Identity): void {
    if (!isSameIdentity(node, identity)) {
      // Some dependents referred to it with another identity before it was observed.
      for (const dependent of partitionDependents(node.dependents, identity).other) {
        const reference = dependent.owners.find(({ uid }) => uid === identity.uid);
        const isForeign = identity.namespace !== '' && identity.namespace !== dependent.namespace;
        if (isForeign && reference !== undefined) this.#listener.foundForeignOwner(dependent, reference);
        this.#listener.attemptDelete(dependent.uid);
      }
    }
    node.type = type;
    node.namespace = identity.namespace;
    node.name = identity.name;
    node.isObserved = true;
  }

  #updatePhase(node: Node, phase: DeletionPhase): void {
    if (phase === node.phase) return;
    node.phase = phase;
    if (phase === 'orphaningDependents') this.#listener.attemptOrphan(node.uid);
    if (phase !== 'deletingDependents') return;
    for (const { uid } of node.dependents) this.#listener.attemptDelete(uid);
    this.#listener.attemptDelete(node.uid);
  }

  #updateOwners(node: Node, { ownerReferences }: ObservedMeta): void {
    const before = node.owners;
    if (areReferences(before, ownerReferences)) return;
    const after = this.#shareReferences(referencesOf(ownerReferences));
    node.owners = after;
    for (const { uid } of before) {
      if (isBlocking(before, uid) && !isBlocking(after, uid) && this.#nodes.has(uid)) this.#listener.attemptDelete(uid);
    }
    const isKnown = (reference: Reference): boolean => before.some((known) => isSameObject(known, reference));
    this.#attachToOwners(
      node,
      after.filter((reference) => !isKnown(reference)),
    );
    for (const { uid } of before) {
      if (!after.some((reference) => reference.uid === uid)) this.#detach(node, uid);
    }
  }

  /** Siblings have equal references to their owner, so they share one list. */
  #shareReferences(references: readonly Reference[]): readonly Reference[] {
    const [only] = references;
    if (only === undefined || references.length > 1) return references;
    const [sibling] = this.#nodes.get(only.uid)?.dependents ?? [];
    const theirs = sibling?.owners ?? noReferences;
    const [same] = theirs;
    const isShared =
      theirs.length === 1 && same !== undefined && isSameObject(same, only) && same.blocks === only.blocks;
    return isShared ? theirs : references;
  }

  #attachToOwners(node: Node, references: readonly Reference[]): void {
    let isDoubtful = false;
    for (const reference of references) {
      const owner = this.#nodes.get(reference.uid);
      if (owner === undefined) {
        this.#addVirtual(node, reference);
        continue;
      }
      owner.addDependent(node);
      if (isDoubtful) continue;
      const isForeign = owner.namespace !== '' && owner.namespace !== node.namespace;
      if (isForeign && owner.isObserved) this.#listener.foundForeignOwner(node, reference);
      // A virtual owner without a namespace may come from a wrong reference of a cluster-scoped object.
      const isUnsure = !owner.isObserved && owner.namespace !== node.namespace;
      // The owner has already enqueued its dependents for deletion, without this one.
      const isLate = owner.phase === 'deletingDependents';
      isDoubtful = isForeign || isUnsure || isLate || !isSameObject(reference, owner);
    }
    if (isDoubtful) this.#listener.attemptDelete(node.uid);
  }

  #addVirtual(dependent: Node, reference: Reference): void {
    const identity = { ...reference, namespace: dependent.namespace };
    const owner = new Node(this.#typeOf(reference), identity, false);
    this.#nodes.set(owner.uid, owner);
    owner.addDependent(dependent);
    this.#listener.attemptDelete(owner.uid);
  }

  #typeOf({ apiVersion, kind }: ObjectType): ObjectType {
    return { apiVersion, kind };
  }

  #remove(node: Node, absent: Identity): void {
    this.#nodes.delete(node.uid);
    if (node.dependents.size > 0) this.#absent.add(absent);
    for (const { uid } of node.dependents) this.#listener.attemptDelete(uid);
    this.#detachFromOwners(node);
  }

  /** Owners that waited for this object may continue their deletion. */
  #detachFromOwners(node: Node): void {
    for (const { uid } of node.owners) {
      this.#detach(node, uid);
      if (this.#nodes.get(uid)?.phase === 'deletingDependents') this.#listener.attemptDelete(uid);
    }
  }

  #detach(node: Node, ownerUid: string): void {
    const owner = this.#nodes.get(ownerUid);
    if (owner === undefined) return;
    owner.deleteDependent(node);
    // A virtual node exists only as long as objects refer to it.
    if (!owner.isObserved && owner.dependents.size === 0) this.#nodes.delete(ownerUid);
  }
}

function isBlocking(references: readonly Reference[], uid: string): boolean {
  return references.some((reference) => reference.uid === uid && reference.blocks);
}
