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
import { runBounded } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { planLabels } from './labels.ts';
import { planConditionTaints } from './node-taints.ts';
import type { WrittenNodes } from './written-nodes.ts';

export interface NodeChange {
  /** All taints of the node: a patch replaces the whole list. */
  readonly taints?: readonly Cached<Taint>[] | undefined;
  /** Labels to set. */
  readonly labels?: Labels | undefined;
}

/** Other writers, such as the kubelet, rarely cause more than a few conflicts in a row. */
const maxAttempts = 5;
/** Concurrent writes: most of their time is spent in the API server. */
const concurrentUpdates = 8;

/** Updates nodes concurrently. An error of one node is logged and does not stop the others: the next period retries. */
export async function updateEach<T>(
  items: readonly T[],
  logger: Logger,
  update: (item: T) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await runBounded(concurrentUpdates, items, async (item) => {
    try {
      await update(item);
    } catch (error) {
      if (signal.aborted) return;
      logger.error({ err: error }, 'could not update a node, retrying in the next period');
    }
  });
}

/** Sets the NoSchedule taints that the node's conditions require, and its deprecated labels. */
export async function syncNode(
  cached: Cached<Node>,
  { client, clock, written }: { readonly client: Client; readonly clock: Clock; readonly written: WrittenNodes },
  signal: AbortSignal,
): Promise<void> {
  const plan = (node: Cached<Node>): NodeChange | undefined => {
    const taints = planConditionTaints(node, clock.now());
    const labels = planLabels(node);
    return taints === undefined && labels === undefined ? undefined : { taints, labels };
  };
  const node = written.latest(cached);
  const changed = await changeNode(client, node, plan, signal);
  if (changed !== undefined && changed !== node) written.wrote(changed);
}

/** Sets a pod on a node that is not ready to not ready, and records an event. */
export async function syncPod(
  pod: Cached<Pod>,
  { client, clock, recorder }: { readonly client: Client; readonly clock: Clock; readonly recorder: EventRecorder },
  signal: AbortSignal,
): Promise<void> {
  if (!(await markPodNotReady(client, pod, clock.now(), signal))) return;
  recorder.event(Pods, pod, { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' });
}

/**
 * Writes the planned change. Returns the node after the write; undefined if it is gone. On a conflict, plans again on the
 * live node.
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
    return mergeAnswer(base, answer, { spec: { ...base.spec, ...(taints === undefined ? {} : { taints }) } });
  });
}

/** Like `changeNode`, for conditions in the node's status. */
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
    return mergeAnswer(base, answer, { status: { ...base.status, conditions: [...others, ...changes] } });
  });
}

/** The node after the write. The server returns only the metadata, which is much smaller than the whole node. */
function mergeAnswer(
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
      if (!isConflict(error) || attempts >= maxAttempts) throw error;
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

/** Sets the pod's Ready condition to False, because its kubelet cannot. False if it is already, or the pod is gone. */
async function markPodNotReady(
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
