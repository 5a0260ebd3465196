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

/** What the graph needs to know of an object; all that is kept of it, anywhere. */
export type ObservedMeta = Cached<
  Pick<ObjectMeta, 'namespace' | 'ownerReferences' | 'finalizers' | 'deletionTimestamp'>
> & { readonly name: string; readonly uid: string };

/** Told what a change of the graph calls for. */
export interface GraphListener {
  /** The object may be garbage now, or its deletion able to go on. */
  attemptDelete(uid: string): void;
  attemptOrphan(uid: string): void;
  /** The object refers to an owner that lives in another namespace, which is never an owner. */
  foundForeignOwner(dependent: GraphNode, owner: Reference): void;
}

/**
 * Who owns whom, among all objects of the cluster. Changes come in, and out come the objects to look at: whether
 * something really is garbage is never decided here, but by asking the server.
 *
 * An owner that is referred to before it has been seen gets a virtual node, to be verified; so does one whose kind is
 * not watched any more.
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

  /** The object exists, or did a moment ago, in this state. */
  observe(type: ObjectType, metadata: ObservedMeta): void {
    const identity = this.#identify(type, metadata);
    let node = this.#nodes.get(metadata.uid);
    if (node === undefined) {
      node = new Node(type, identity, true);
      this.#nodes.set(node.uid, node);
    } else if (node.isObserved) {
      node.type = type; // the same object, served in another version from now on
    } else {
      this.#becomeObserved(node, type, identity);
    }
    this.#updateOwners(node, metadata);
    this.#updatePhase(node, deletionPhase(metadata));
  }

  /** The object was seen to be deleted. */
  forget(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node !== undefined) this.#remove(node, identityOf(node));
  }

  /**
   * The server has no object of this identity: what was thought to be one is not there, or is somewhere else. A node
   * that is still virtual afterwards is to be verified again.
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

  /** The kind of a virtual node has turned out to live outside all namespaces, whatever its dependents live in. */
  confirmClusterWide(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node !== undefined && !node.isObserved) node.namespace = '';
  }

  /** The observed objects of a type that are not among those given. May be taken step by step, while things change. */
  *othersOf(type: ObjectType, uids: ReadonlySet<string>): Generator<string | undefined> {
    for (const node of this.#nodes.values()) {
      yield node.type === type && node.isObserved && !uids.has(node.uid) ? node.uid : undefined;
    }
  }

  /** Nobody watches the object any more: it holds nothing up, and what it owns is to be verified. */
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
   * The dependents that an object deleted in the foreground waits for. Those that in turn wait for the object itself do
   * not count: of a circle, none would ever go.
   */
  blockersOf(waiting: GraphNode): readonly GraphNode[] {
    const blockers = [...waiting.dependents].filter(({ owners }) => isBlocking(owners, waiting.uid));
    if (blockers.length === 0) return blockers;
    const waitingForIt = this.#waitingFor(waiting);
    return blockers.filter((blocker) => !waitingForIt.has(blocker));
  }

  /** All objects deleted in the foreground that cannot go before this one has gone. */
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
    // Lists come namespace by namespace: one string for all of one namespace instead of one for each object.
    if (namespace !== this.#lastNamespace) this.#lastNamespace = namespace;
    return { ...type, namespace: this.#lastNamespace, name, uid };
  }

  #becomeObserved(node: Node, type: ObjectType, identity: Identity): void {
    if (!isSameIdentity(node, identity)) {
      // They referred to it before it was seen, and not all of them by what it really is.
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

  /** Siblings refer to their owner in the same way: one list for all of them. */
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
      // A virtual owner without a namespace may be one that an object outside all namespaces wrongly refers to.
      const isUnsure = !owner.isObserved && owner.namespace !== node.namespace;
      // One that deletes its dependents has looked for them already, without this one.
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

  /** Owners that have waited for it may be able to go now. */
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
    // A virtual node is there for those who refer to it.
    if (!owner.isObserved && owner.dependents.size === 0) this.#nodes.delete(ownerUid);
  }
}

function isBlocking(references: readonly Reference[], uid: string): boolean {
  return references.some((reference) => reference.uid === uid && reference.blocks);
}
