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
  type ApiError,
  type Client,
  type ConnectionError,
  type DiscoveredResource,
  type DiscoveryResult,
} from '../../pkg/client/index.ts';
import { runBounded } from '../../pkg/controller/index.ts';
import type { DeletionOutcome } from './conditions.ts';
import { computeRemaining, type Remaining } from './remaining.ts';

/** Resources worked on at once: enough to keep the server busy, few enough to leave it to others. */
const concurrency = 8;

interface Deletion {
  readonly client: Client;
  readonly namespace: string;
  readonly goneForSeconds: number;
}

/** Asks for the deletion of all that the namespace holds, pods first, and says what is left. */
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
      failures.push(serverMessage(error)); // one resource that cannot be deleted holds up no other
    }
  };
  await runBounded(concurrency, pods, deleteOne);
  // A pod may still need its Secrets, Services and policies to end well.
  const waitsForPods = remaining.length > 0;
  if (!waitsForPods) await runBounded(concurrency, others, deleteOne);
  return { undiscovered: discovered.failures, unparsable, failures, remaining, waitsForPods };
}

interface Deletable {
  readonly pods: readonly DiscoveredResource[];
  readonly others: readonly DiscoveredResource[];
  /** Group versions that are none: nothing can be asked of what is said to be there. */
  readonly unparsable: readonly string[];
}

export function selectDeletable(resources: readonly DiscoveredResource[]): Deletable {
  const deletable = resources.filter(({ kind, verbs }) => kind.namespaced && verbs.has('delete'));
  const isParsed = ({ kind }: DiscoveredResource): boolean => !kind.version.includes('/');
  const isPods = ({ kind }: DiscoveredResource): boolean =>
    kind.group === Pods.group && kind.version === Pods.version && kind.resource === Pods.resource;
  const odd = deletable.filter((resource) => !isParsed(resource)).map(({ kind }) => apiVersionOf(kind));
  return {
    pods: deletable.filter(isPods),
    others: deletable.filter((resource) => isParsed(resource) && !isPods(resource)),
    unparsable: [...new Set(odd)],
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
  const found = await listItems(client, kind, verbs, namespace, signal);
  if (found !== undefined && found.length === 0) return undefined; // most resources, at the price of one request
  let cutShort: ApiError | ConnectionError | undefined;
  if (found === undefined || found.some(isToBeDeleted)) {
    try {
      await deleteItems(client, kind, verbs, namespace, found ?? [], signal);
    } catch (error) {
      if (found === undefined || !isCutShort(error)) throw error;
      cutShort = error;
    }
  }
  const left = await listItems(client, kind, verbs, namespace, signal);
  const remaining = left && computeRemaining(kind, left, goneForSeconds);
  if (remaining === undefined || cutShort === undefined) return remaining;
  // As long as the server gets on, nothing is wrong but that they are many: the next pass goes on with them.
  if (countToDelete(left) >= countToDelete(found)) throw cutShort;
  return { ...remaining, estimateSeconds: 0 };
}

const countToDelete = (items: readonly MetadataOnly[] = []): number => items.filter(isToBeDeleted).length;

/** A server that has no more time for a request says so, or just hangs up. */
const isCutShort = (error: unknown): error is ApiError | ConnectionError =>
  isTimeout(error) || isConnectionError(error);

/** Finalizers that a deletion in the background takes off again: whoever asked for them wanted their owner gone too. */
const collectorFinalizers: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion']);

/** Whether to ask for the deletion of an item changes anything. */
export function isToBeDeleted({ metadata }: Pick<MetadataOnly, 'metadata'>): boolean {
  if (!isBeingDeleted(metadata)) return true;
  return (metadata.finalizers ?? []).some((finalizer) => collectorFinalizers.has(finalizer));
}

/** Undefined where the resource cannot be listed. */
async function listItems(
  client: Client,
  kind: Kind,
  verbs: ReadonlySet<string>,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly MetadataOnly[] | undefined> {
  if (!verbs.has('list')) return undefined;
  try {
    return (await client.listAll(metadataOf(kind), { namespace }, signal)).items;
  } catch (error) {
    if (isNotFound(error) || isMethodNotSupported(error)) return undefined; // its definition went away meanwhile
    throw error;
  }
}

async function deleteItems(
  client: Client,
  kind: Kind,
  verbs: ReadonlySet<string>,
  namespace: string,
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
