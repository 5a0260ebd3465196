import { keyOf, metadataOf, Pods, resourceName, type Kind, type MetadataOnly } from '../../pkg/api/index.ts';
import {
  isMethodNotSupported,
  isNotFound,
  serverMessage,
  type Client,
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
  const deletable = discovered.resources.filter(({ kind, verbs }) => kind.namespaced && verbs.has('delete'));
  const pods = deletable.filter(({ kind }) => kind.group === Pods.group && kind.resource === Pods.resource);
  const others = deletable.filter((resource) => !pods.includes(resource));
  const failures: string[] = [];
  const remaining: Remaining[] = [];
  const deleteOne = async (resource: DiscoveredResource): Promise<void> => {
    try {
      const left = await deleteResource(deletion, resource, signal);
      if (left !== undefined) remaining.push(left);
      if (left !== undefined && left.estimateSeconds === undefined) {
        failures.push(
          `unexpected items still remain in namespace: ${deletion.namespace} for ${describe(resource.kind)}`,
        );
      }
    } catch (error) {
      if (signal.aborted) throw error;
      failures.push(serverMessage(error)); // one resource that cannot be deleted holds up no other
    }
  };
  await runBounded(concurrency, pods, deleteOne);
  // A pod may still need its Secrets, Services and policies to end well.
  if (remaining.length === 0) await runBounded(concurrency, others, deleteOne);
  return { undiscovered: discovered.failures, failures, remaining };
}

function describe(kind: Kind): string {
  return `${resourceName(kind)}, version ${kind.version}`;
}

async function deleteResource(
  { client, namespace, goneForSeconds }: Deletion,
  { kind, verbs }: DiscoveredResource,
  signal: AbortSignal,
): Promise<Remaining | undefined> {
  const found = await listItems(client, kind, verbs, namespace, signal);
  if (found !== undefined && found.length === 0) return undefined; // most resources, at the price of one request
  if (found === undefined || found.some(({ metadata }) => metadata.deletionTimestamp === undefined)) {
    await deleteItems(client, kind, verbs, namespace, found ?? [], signal);
  }
  const left = await listItems(client, kind, verbs, namespace, signal);
  return left === undefined ? undefined : computeRemaining(kind, left, goneForSeconds);
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
