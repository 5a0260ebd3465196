import {
  apiVersionOf,
  keyOf,
  metadataOf,
  Pods,
  isBeingDeleted,
  type Kind,
  type MetadataOnly,
} from '../../pkg/api/index.ts';
import {
  isConnectionError,
  isMethodNotSupported,
  isNotFound,
  isTimeout,
  serverMessage,
  type Client,
  type DiscoveredResource,
  type DiscoveryResult,
} from '../../pkg/client/index.ts';
import { runBounded } from '../../pkg/controller/index.ts';
import type { DeletionOutcome } from './conditions.ts';
import { computeRemaining, type Remaining } from './remaining.ts';

/** Resources that are deleted at the same time: enough for speed, few enough to leave the API server to others. */
const concurrency = 8;

interface Deletion {
  readonly client: Client;
  readonly namespace: string;
  readonly goneForSeconds: number;
}

/** Deletes all objects in the namespace, pods first, and returns what remains. */
export async function deleteContent(
  deletion: Deletion,
  discovered: DiscoveryResult,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const { pods, others, unparsable } = selectDeletable(discovered.resources);
  const failures: string[] = [];
  const remaining: Remaining[] = [];
  const deleteOne = async (resource: DiscoveredResource): Promise<void> => {
    try {
      const left = await deleteResource(deletion, resource, signal);
      if (left === undefined) return;
      remaining.push(left);
      if (left.estimateSeconds === undefined) failures.push(unexpectedItems(deletion.namespace, resource.kind));
    } catch (error) {
      if (signal.aborted) throw error;
      failures.push(serverMessage(error)); // a resource that cannot be deleted must not block the others
    }
  };
  await runBounded(concurrency, pods, deleteOne);
  // Terminating pods may still need their Secrets, Services and policies.
  const waitsForPods = remaining.length > 0;
  if (!waitsForPods) await runBounded(concurrency, others, deleteOne);
  return { undiscovered: discovered.failures, unparsable, failures, remaining, waitsForPods };
}

interface Deletable {
  readonly pods: readonly DiscoveredResource[];
  readonly others: readonly DiscoveredResource[];
  /** Group versions that cannot be parsed: their objects cannot be requested. */
  readonly unparsable: readonly string[];
}

export function selectDeletable(resources: readonly DiscoveredResource[]): Deletable {
  const deletable = resources.filter(({ kind, verbs }) => kind.namespaced && verbs.has('delete'));
  const isParsed = ({ kind }: DiscoveredResource): boolean => !kind.version.includes('/');
  const isPods = ({ kind }: DiscoveredResource): boolean =>
    kind.group === Pods.group && kind.version === Pods.version && kind.resource === Pods.resource;
  const unparsable = deletable.filter((resource) => !isParsed(resource)).map(({ kind }) => apiVersionOf(kind));
  return {
    pods: deletable.filter(isPods),
    others: deletable.filter((resource) => isParsed(resource) && !isPods(resource)),
    unparsable: [...new Set(unparsable)],
  };
}

function unexpectedItems(namespace: string, { group, version, resource }: Kind): string {
  return `unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${resource}`;
}

async function deleteResource(
  { client, namespace, goneForSeconds }: Deletion,
  { kind, verbs }: DiscoveredResource,
  signal: AbortSignal,
): Promise<Remaining | undefined> {
  const target = { client, kind, verbs, namespace };
  const found = await listItems(target, signal);
  if (found !== undefined && found.length === 0) return undefined; // most resources have no objects: one request is enough
  let interruption: Error | undefined;
  if (found === undefined || found.some(isToBeDeleted)) {
    try {
      await deleteItems(target, found ?? [], signal);
    } catch (error) {
      if (found === undefined || !isInterruption(error)) throw error;
      interruption = error;
    }
  }
  const left = await listItems(target, signal);
  const remaining = left && computeRemaining(kind, left, goneForSeconds);
  if (remaining === undefined || interruption === undefined) return remaining;
  // A timeout with progress means only that there are many objects: the next sync continues.
  if (countToDelete(left) >= countToDelete(found)) throw interruption;
  return { ...remaining, estimateSeconds: 0 };
}

const countToDelete = (items: readonly MetadataOnly[] = []): number => items.filter(isToBeDeleted).length;

/** When a request takes too long, the API server returns a timeout or closes the connection. */
const isInterruption = (error: unknown): error is Error => isTimeout(error) || isConnectionError(error);

/** Finalizers that a delete with propagation policy Background removes. */
const collectorFinalizers: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion']);

/** Whether a delete request would change the object. */
export function isToBeDeleted({ metadata }: Pick<MetadataOnly, 'metadata'>): boolean {
  if (!isBeingDeleted(metadata)) return true;
  return (metadata.finalizers ?? []).some((finalizer) => collectorFinalizers.has(finalizer));
}

/** The objects of one resource in the namespace. */
interface Target {
  readonly client: Client;
  readonly kind: Kind;
  readonly verbs: ReadonlySet<string>;
  readonly namespace: string;
}

/** Undefined if the resource cannot be listed. */
async function listItems(
  { client, kind, verbs, namespace }: Target,
  signal: AbortSignal,
): Promise<readonly MetadataOnly[] | undefined> {
  if (!verbs.has('list')) return undefined;
  try {
    return (await client.listAll(metadataOf(kind), { namespace }, signal)).items;
  } catch (error) {
    if (isNotFound(error) || isMethodNotSupported(error)) return undefined; // its definition was deleted meanwhile
    throw error;
  }
}

async function deleteItems(
  { client, kind, verbs, namespace }: Target,
  items: readonly MetadataOnly[],
  signal: AbortSignal,
): Promise<void> {
  const policy = { propagationPolicy: 'Background' } as const;
  if (verbs.has('deletecollection')) {
    try {
      return await client.deleteCollection(kind, { namespace, ...policy }, signal);
    } catch (error) {
      if (!isNotFound(error) && !isMethodNotSupported(error)) throw error;
    }
  }
  await runBounded(concurrency, items, async (item) => {
    try {
      const { uid } = item.metadata;
      await client.delete(kind, keyOf(item), { ...policy, preconditions: { uid } }, signal);
    } catch (error) {
      if (!isNotFound(error) && !isMethodNotSupported(error)) throw error;
    }
  });
}
