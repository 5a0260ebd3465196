import { isBeingDeleted, type Cached, type Kind, type StoredMeta } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { runBounded, type ReconcileResult } from '../../pkg/controller/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { AbsentOwners } from './absent-owners.ts';
import { createWriter, type Writer } from './apply.ts';
import { orphanFinalizer, ownerState, planForOwned, planForWaiting, type Action, type OwnerState } from './decide.ts';
import type { GraphNode } from './graph-node.ts';
import type { DependencyGraph } from './graph.ts';
import { identityOf, referencesOf, type Reference } from './identity.ts';
import { readLive, UnknownKindError, type KnownKinds } from './live.ts';

export interface CollectorDeps {
  readonly client: Client;
  readonly graph: DependencyGraph;
  readonly absent: AbsentOwners;
  readonly kinds: KnownKinds;
  readonly logger: Logger;
  /** Whether the graph has all objects of all discovered resources. */
  readonly isGraphComplete: () => boolean;
  readonly attemptDelete: (uid: string) => void;
}

export interface Collector {
  /** Deletes the object if the API server confirms that it has no owner any more, or continues its deletion. */
  attemptDelete(uid: string, signal: AbortSignal): Promise<ReconcileResult>;
  /** Orphans all dependents of an object, then lets its deletion continue. */
  attemptOrphan(uid: string, signal: AbortSignal): Promise<ReconcileResult>;
}

/** How often an object of an unknown kind is checked again. Discovery is refreshed as often. */
const unknownKindMs = 30_000;
/** The back-off for virtual objects. A virtual object that exists is observed soon, or never if its kind is not watched. */
const unobserved = { firstMs: 100, maxMs: 600_000 };
const incompleteGraphMs = 1000;
/** Dependents of one owner that are orphaned at the same time. The client's rate limit applies to all of them. */
const orphanConcurrency = 20;

export function createCollector(deps: CollectorDeps): Collector {
  const { client, graph, kinds, logger } = deps;
  const writer = createWriter(client);
  /** The number of checks of each virtual object. */
  const checks = new WeakMap<GraphNode, number>();

  async function collect(node: GraphNode, signal: AbortSignal): Promise<void> {
    const kind = kinds.get(node);
    if (kind.namespaced && node.namespace === '') throw new NamespacedOwnerError(node);
    if (!kind.namespaced) graph.confirmClusterWide(node.uid);
    const identity = identityOf(node);
    const live = await readLive(client, kind, identity, signal);
    if (live === undefined) return graph.confirmAbsent(identity);
    // Already terminating: the event of the watch will update the graph.
    if (node.phase === 'none' && isBeingDeleted(live)) return;
    const action = await planAction(deps, node, live, signal);
    if (graph.get(node.uid) !== node) return; // deleted meanwhile
    if (action.type !== 'none') logger.debug({ ...identity, action }, 'collecting');
    if (action.type === 'attempt') action.uids.forEach(deps.attemptDelete);
    const isGone = await writer.apply(action, { kind, identity, live }, signal);
    if (isGone) graph.confirmAbsent(identity);
  }

  async function attemptDelete(uid: string, signal: AbortSignal): Promise<ReconcileResult> {
    const node = graph.get(uid);
    if (node === undefined) return {};
    // A deletion cannot be undone. It completes without us, or `attemptOrphan` continues it.
    if (node.phase === 'deleting' || node.phase === 'orphaningDependents') return {};
    // Its dependents were listed first. An object without owners is never garbage, so it needs no read.
    if (node.isObserved && node.phase === 'none' && node.owners.length === 0) return {};
    try {
      await collect(node, signal);
    } catch (error) {
      if (error instanceof NamespacedOwnerError) {
        logger.info({ ...identityOf(node), why: error.message }, 'not collected');
        return {};
      }
      if (!(error instanceof UnknownKindError)) throw error;
      logger.debug({ ...identityOf(node), why: error.message }, 'waiting for the kind to be served');
      return { requeueAfterMs: unknownKindMs };
    }
    const now = graph.get(uid);
    if (now === undefined || now.isObserved) return {};
    // An object that was created and deleted while no watch was open is never observed: check it again.
    const before = checks.get(now) ?? 0;
    checks.set(now, before + 1);
    return { requeueAfterMs: Math.min(unobserved.firstMs * 2 ** before, unobserved.maxMs) };
  }

  async function attemptOrphan(uid: string, signal: AbortSignal): Promise<ReconcileResult> {
    const owner = graph.get(uid);
    if (owner?.phase !== 'orphaningDependents') return {};
    // A dependent that is not in the graph yet would not be orphaned, and would be deleted after its owner.
    if (!deps.isGraphComplete()) return { requeueAfterMs: incompleteGraphMs };
    const kind = kinds.find(owner);
    if (kind === undefined) return { requeueAfterMs: unknownKindMs };
    await orphanDependents(owner, { writer, kinds }, signal);
    const identity = identityOf(owner);
    const live = await readLive(client, kind, identity, signal);
    if (live !== undefined) await writer.removeFinalizer({ kind, identity, live }, orphanFinalizer, signal);
    return {};
  }

  return { attemptDelete, attemptOrphan };
}

async function planAction(
  deps: CollectorDeps,
  node: GraphNode,
  live: Cached<StoredMeta>,
  signal: AbortSignal,
): Promise<Action> {
  if (node.phase === 'deletingDependents') return planForWaiting(deps.graph.blockersOf(node));
  return planForOwned({
    finalizers: live.finalizers ?? [],
    owners: await classifyOwners(deps, node, live, signal),
    dependents: [...node.dependents].map(({ phase }) => phase),
  });
}

/** Removes the owner from all its dependents, including dependents that are added meanwhile. */
async function orphanDependents(
  owner: GraphNode,
  { writer, kinds }: { readonly writer: Writer; readonly kinds: KnownKinds },
  signal: AbortSignal,
): Promise<void> {
  const orphaned = new Set<GraphNode>();
  for (;;) {
    const dependents = [...owner.dependents].filter((dependent) => !orphaned.has(dependent));
    if (dependents.length === 0) return;
    await runBounded(orphanConcurrency, dependents, async (dependent) => {
      await writer.removeOwners({ kind: kinds.get(dependent), identity: identityOf(dependent) }, [owner.uid], signal);
      orphaned.add(dependent);
    });
  }
}

/** A cluster-scoped object refers to a namespaced owner: the owner's namespace is not known. */
class NamespacedOwnerError extends Error {
  override readonly name = 'NamespacedOwnerError';
  readonly reason = 'NamespacedOwner';

  constructor({ kind, name }: Pick<Reference, 'kind' | 'name'>) {
    super(`${kind} ${name} is namespaced and cannot own a cluster-scoped object`);
  }
}

type Classified = { readonly uid: string; readonly state: OwnerState };

async function classifyOwners(
  deps: CollectorDeps,
  { namespace }: GraphNode,
  { ownerReferences }: Cached<StoredMeta>,
  signal: AbortSignal,
): Promise<Classified[]> {
  const classified: Classified[] = [];
  for (const reference of referencesOf(ownerReferences)) {
    classified.push({ uid: reference.uid, state: await classify(deps, reference, namespace, signal) });
  }
  return classified;
}

async function classify(
  { client, kinds, absent }: CollectorDeps,
  reference: Reference,
  namespace: string,
  signal: AbortSignal,
): Promise<OwnerState> {
  // The owner is known to be absent, with or without a namespace. Its kind may not be served any more.
  if (absent.has({ ...reference, namespace: '' }) || absent.has({ ...reference, namespace })) return 'dangling';
  const kind: Kind = kinds.get(reference);
  if (kind.namespaced && namespace === '') throw new NamespacedOwnerError(reference);
  const owner = identityOf({ ...reference, namespace: kind.namespaced ? namespace : '' });
  const live = await readLive(client, kind, owner, signal);
  if (live === undefined) absent.add(owner);
  return ownerState(live);
}
