import { isBeingDeleted, type Cached, type Kind, type StoredMeta } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { runBounded, type ReconcileResult } from '../../pkg/controller/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { AbsentOwners } from './absent-owners.ts';
import { createWriter, type Target } from './apply.ts';
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
  /** Whether the graph holds every object that discovery has told of. */
  readonly isGraphComplete: () => boolean;
  readonly attemptDelete: (uid: string) => void;
}

export interface Collector {
  /** Deletes the object if the server confirms that nobody owns it any more, or lets its deletion go on. */
  attemptDelete(uid: string, signal: AbortSignal): Promise<ReconcileResult>;
  /** Frees all dependents of an object of their owner, then lets its deletion go on. */
  attemptOrphan(uid: string, signal: AbortSignal): Promise<ReconcileResult>;
}

/** What is served changes with discovery, which is asked again this often. */
const unknownKindMs = 30_000;
/** A virtual object that does exist will be observed soon; if its kind is not watched, never. */
const unobserved = { firstMs: 100, maxMs: 600_000 };
const incompleteGraphMs = 1000;
/** Dependents freed at once for one owner; the client's rate limit holds for all of them together. */
const orphanConcurrency = 20;

export function createCollector(deps: CollectorDeps): Collector {
  const { client, graph, kinds, logger } = deps;
  const writer = createWriter(client);
  /** How often each virtual object has been looked at. */
  const looks = new WeakMap<GraphNode, number>();

  async function judge(node: GraphNode, signal: AbortSignal): Promise<void> {
    const kind = kinds.get(node);
    if (kind.namespaced && node.namespace === '') throw new NamespacedOwnerError(node);
    if (!kind.namespaced) graph.confirmClusterWide(node.uid);
    const identity = identityOf(node);
    const live = await readLive(client, kind, identity, signal);
    if (live === undefined) return graph.confirmAbsent(identity);
    // Already being deleted, which the watch will tell in its own time.
    if (node.phase === 'none' && isBeingDeleted(live)) return;
    const action =
      node.phase === 'deletingDependents'
        ? planForWaiting(graph.blockersOf(node))
        : planForOwned({
            finalizers: live.finalizers ?? [],
            owners: await classifyOwners(deps, node, live, signal),
            dependents: [...node.dependents].map(({ phase }) => phase),
          });
    if (graph.get(node.uid) !== node) return; // it has gone meanwhile
    const target = { kind, identity, live };
    const isGone = await apply(action, target, signal);
    if (isGone) graph.confirmAbsent(identity);
  }

  async function apply(action: Action, target: Target, signal: AbortSignal): Promise<boolean> {
    if (action.type !== 'none') logger.debug({ ...target.identity, action }, 'collecting');
    switch (action.type) {
      case 'none':
        return false;
      case 'attempt':
        for (const uid of action.uids) deps.attemptDelete(uid);
        return false;
      case 'removeFinalizer':
        await writer.removeFinalizer(target, action.finalizer, signal);
        return false;
      case 'removeOwners':
        await writer.removeOwners(target, action.uids, signal);
        return false;
      case 'delete': {
        const judged = action.unblockOwners ? await writer.unblockOwners(target, signal) : target;
        return !(await writer.deleteObject(judged, action.policy, signal));
      }
    }
  }

  async function attemptDelete(uid: string, signal: AbortSignal): Promise<ReconcileResult> {
    const node = graph.get(uid);
    if (node === undefined) return {};
    // Deletion is a one-way street: there is nothing to do until it ends, or for `attemptOrphan` alone.
    if (node.phase === 'deleting' || node.phase === 'orphaningDependents') return {};
    try {
      await judge(node, signal);
    } catch (error) {
      if (error instanceof NamespacedOwnerError) {
        logger.info({ ...identityOf(node), why: error.message }, 'left alone');
        return {};
      }
      if (!(error instanceof UnknownKindError)) throw error;
      logger.debug({ ...identityOf(node), why: error.message }, 'waiting for the kind to be served');
      return { requeueAfterMs: unknownKindMs };
    }
    const now = graph.get(uid);
    if (now === undefined || now.isObserved) return {};
    // One that came and went while no watch was open is never observed: only asking again will tell.
    const before = looks.get(now) ?? 0;
    looks.set(now, before + 1);
    return { requeueAfterMs: Math.min(unobserved.firstMs * 2 ** before, unobserved.maxMs) };
  }

  async function attemptOrphan(uid: string, signal: AbortSignal): Promise<ReconcileResult> {
    const owner = graph.get(uid);
    if (owner?.phase !== 'orphaningDependents') return {};
    // A dependent that is not in the graph yet would not be freed, and be deleted once its owner has gone.
    if (!deps.isGraphComplete()) return { requeueAfterMs: incompleteGraphMs };
    const kind = kinds.find(owner);
    if (kind === undefined) return { requeueAfterMs: unknownKindMs };
    const freed = new Set<GraphNode>();
    for (;;) {
      const bound = [...owner.dependents].filter((dependent) => !freed.has(dependent));
      if (bound.length === 0) break;
      await runBounded(orphanConcurrency, bound, async (dependent) => {
        await writer.removeOwners({ kind: kinds.get(dependent), identity: identityOf(dependent) }, [uid], signal);
        freed.add(dependent);
      });
    }
    const identity = identityOf(owner);
    const live = await readLive(client, kind, identity, signal);
    if (live !== undefined) await writer.removeFinalizer({ kind, identity, live }, orphanFinalizer, signal);
    return {};
  }

  return { attemptDelete, attemptOrphan };
}

/** What has no namespace refers to an owner that has one: nobody can say which namespace is meant. */
class NamespacedOwnerError extends Error {
  override readonly name = 'NamespacedOwnerError';
  readonly reason = 'NamespacedOwner';

  constructor({ kind, name }: Pick<Reference, 'kind' | 'name'>) {
    super(`${kind} ${name} lives in a namespace, and cannot own what does not`);
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
  // Known to be absent wherever it may live; its kind need not even be served any more.
  if (absent.has({ ...reference, namespace: '' }) || absent.has({ ...reference, namespace })) return 'dangling';
  const kind: Kind = kinds.get(reference);
  if (kind.namespaced && namespace === '') throw new NamespacedOwnerError(reference);
  const owner = identityOf({ ...reference, namespace: kind.namespaced ? namespace : '' });
  const live = await readLive(client, kind, owner, signal);
  if (live === undefined) absent.add(owner);
  return ownerState(live);
}
