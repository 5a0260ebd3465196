import {
  findCondition,
  formatTime,
  keyOf,
  metadataOf,
  Nodes,
  Pods,
  type Cached,
  type Labels,
  type MetadataOnly,
  type Node,
  type NodeCondition,
  type Pod,
  type Taint,
} from '../../pkg/api/index.ts';
import { isConflict, isNotFound, type Client } from '../../pkg/client/index.ts';

export interface NodeChange {
  /** All taints of the node: the API knows no way to change one of them. */
  readonly taints?: readonly Cached<Taint>[] | undefined;
  /** Those to be set. */
  readonly labels?: Labels | undefined;
}

/** Enough for the kubelet and a colleague to write in between; more would mean that somebody fights us. */
const mostAttempts = 5;

/**
 * Writes what `plan` finds to be changed, and gives the node as it is then; undefined if it is gone. Writes only over
 * the very state that was planned on: if somebody was faster, the plan is made anew.
 */
export function changeNode(
  client: Client,
  node: Cached<Node>,
  plan: (node: Cached<Node>) => NodeChange | undefined,
  signal: AbortSignal,
): Promise<Cached<Node> | undefined> {
  return retryOnConflict(client, node, signal, async (base) => {
    const change = plan(base);
    if (change === undefined) return base;
    const { uid, resourceVersion } = base.metadata;
    const { taints, labels } = change;
    const body = {
      metadata: { uid, resourceVersion, ...(labels === undefined ? {} : { labels }) },
      ...(taints === undefined ? {} : { spec: { taints } }),
    };
    const answer = await client.patch(metadataOf(Nodes), keyOf(base), { type: 'strategic', body }, signal);
    return written(base, answer, { spec: { ...base.spec, ...(taints === undefined ? {} : { taints }) } });
  });
}

/** The same for conditions of its status. */
export function changeConditions(
  client: Client,
  node: Cached<Node>,
  plan: (node: Cached<Node>) => readonly NodeCondition[],
  signal: AbortSignal,
): Promise<Cached<Node> | undefined> {
  return retryOnConflict(client, node, signal, async (base) => {
    const changes = plan(base);
    if (changes.length === 0) return base;
    const { uid, resourceVersion } = base.metadata;
    const body = { metadata: { uid, resourceVersion }, status: { conditions: changes } };
    const patch = { type: 'strategic', subresource: 'status', body } as const;
    const answer = await client.patch(metadataOf(Nodes), keyOf(base), patch, signal);
    const others = (base.status?.conditions ?? []).filter(({ type }) => findCondition(changes, type) === undefined);
    return written(base, answer, { status: { ...base.status, conditions: [...others, ...changes] } });
  });
}

/** What the server must hold now: it answers with the metadata alone, which saves sending the whole node back. */
function written(
  base: Cached<Node>,
  { metadata }: MetadataOnly,
  changed: Partial<Pick<Cached<Node>, 'spec' | 'status'>>,
): Cached<Node> {
  return { ...base, ...changed, metadata };
}

async function retryOnConflict(
  client: Client,
  node: Cached<Node>,
  signal: AbortSignal,
  attempt: (base: Cached<Node>) => Promise<Cached<Node>>,
): Promise<Cached<Node> | undefined> {
  let base = node;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(base);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isConflict(error) || attempts >= mostAttempts) throw error;
    }
    const live = await readNode(client, node, signal);
    if (live === undefined) return undefined;
    base = live;
  }
}

async function readNode(client: Client, node: Cached<Node>, signal: AbortSignal): Promise<Cached<Node> | undefined> {
  try {
    const live: Cached<Node> = await client.get(Nodes, keyOf(node), signal);
    return live.metadata.uid === node.metadata.uid ? live : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Says on a pod that it is not ready, since nobody on its node can. False if it says so already, or is gone. */
export async function markPodNotReady(
  client: Client,
  pod: Cached<Pod>,
  wallMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const ready = findCondition(pod.status?.conditions, 'Ready');
  if (ready === undefined || ready.status === 'False') return false;
  const condition = { type: 'Ready', status: 'False', lastTransitionTime: formatTime(wallMs) };
  const body = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
  try {
    await client.patch(metadataOf(Pods), keyOf(pod), { type: 'strategic', subresource: 'status', body }, signal);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
