import { keyOf, metadataOf, Nodes, type Cached, type Node, type Taint } from '../../pkg/api/index.ts';
import { isConflict, isNotFound, type Client } from '../../pkg/client/index.ts';
import { asError } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';

export interface NodeDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
}

/** Other writers, such as the kubelet, rarely cause more than a few conflicts in a row. */
const maxAttempts = 5;

/** Writes the planned taints. On a conflict, plans again on the live node. */
export async function changeTaints(
  node: Cached<Node>,
  plan: (node: Cached<Node>) => readonly Cached<Taint>[] | undefined,
  { client }: NodeDeps,
  signal: AbortSignal,
): Promise<void> {
  let base = node;
  for (let attempts = 1; ; attempts += 1) {
    const taints = plan(base);
    if (taints === undefined) return;
    const { uid, resourceVersion } = base.metadata;
    // A patch replaces the whole list, so the version makes sure that no other taint is lost.
    const body = { metadata: { uid, resourceVersion }, spec: { taints } };
    try {
      await client.patch(metadataOf(Nodes), keyOf(base), { type: 'strategic', body }, signal);
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempts === maxAttempts) throw error;
      base = await client.get(Nodes, keyOf(base), signal);
      if (base.metadata.uid !== uid) return;
    }
  }
}

/** Deletes the node of a machine that does not exist. */
export async function deleteNode(
  node: Cached<Node>,
  { client, recorder }: NodeDeps,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid } = node.metadata;
  const message = `Deleting node ${name} because it does not exist in the cloud provider`;
  recorder.event(Nodes, node, { type: 'Normal', reason: 'DeletingNode', message });
  try {
    await client.delete(Nodes, keyOf(node), { preconditions: { uid } }, signal);
  } catch (error) {
    if (isNotFound(error) || signal.aborted) return;
    const failed = `Failed deleting node ${name}: ${asError(error).message}`;
    recorder.event(Nodes, node, { type: 'Warning', reason: 'DeletingNodeFailed', message: failed });
    throw error;
  }
}
