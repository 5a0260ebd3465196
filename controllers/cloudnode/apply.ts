import { keyOf, metadataOf, Nodes, parseTime, type Cached, type Node, type ObjectKey } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { InstanceMetadata, Instances } from '../../pkg/cloud/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { planAddresses, preferNodeIp } from './addresses.ts';
import { planInitialisation, planStableLabels, type NodeChange } from './initialise.ts';
import type { CloudNodeMetrics } from './metrics.ts';

export interface CloudNodeDeps {
  readonly instances: Instances;
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: CloudNodeMetrics;
  /** Called with the resource version of each write, so that the next sync of the node waits for it. */
  readonly onWritten: (key: ObjectKey, resourceVersion: string) => void;
}

/** The cloud does not say which machine the node is. */
class NoProviderIdError extends Error {
  override readonly name = 'NoProviderIdError';
  readonly reason = 'NoProviderId';
}

/** Describes a new node. Its taint stays until everything about it is known. */
export async function initialiseNode(node: Cached<Node>, deps: CloudNodeDeps, signal: AbortSignal): Promise<void> {
  const { instances, clock, metrics, recorder } = deps;
  const machine = await instances.metadataOf(node, signal);
  if (machine === undefined) return;
  const { name, creationTimestamp } = node.metadata;
  if (machine.providerId === '' && (node.spec.providerID ?? '') === '') {
    throw new NoProviderIdError(`cloud provider does not set node provider ID for node ${name}`);
  }
  preferNodeIp(node, machine.nodeAddresses ?? []); // throws if its addresses cannot be those that it asks for
  await changeNode(node, planInitialisation(node, machine), deps, signal);
  const age = (): number => Math.max(0, clock.now() - (parseTime(creationTimestamp) ?? clock.now())) / 1000;
  metrics.taintRemovalSeconds.observe(age());
  await updateAddresses(node, machine, deps, signal);
  recorder.event(Nodes, node, { type: 'Normal', reason: 'Synced', message: 'Node synced successfully' });
  metrics.initialSyncSeconds.observe(age());
}

/** Sets the labels that replaced beta labels to the values of those. */
export async function correctLabels(node: Cached<Node>, deps: CloudNodeDeps, signal: AbortSignal): Promise<void> {
  const labels = planStableLabels(node);
  if (labels !== undefined) await changeNode(node, { labels }, deps, signal);
}

/** A failure is logged: the next period tries again. */
export async function updateAddresses(
  node: Cached<Node>,
  machine: InstanceMetadata,
  { client, logger }: CloudNodeDeps,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid } = node.metadata;
  try {
    const addresses = planAddresses(node, machine.nodeAddresses);
    if (addresses === undefined) return;
    // A merge patch replaces the addresses. A strategic one would merge them by type.
    const body = { metadata: { uid }, status: { addresses } };
    await client.patch(metadataOf(Nodes), keyOf(node), { type: 'merge', subresource: 'status', body }, signal);
  } catch (error) {
    if (signal.aborted || isNotFound(error)) return;
    logger.error({ err: error, node: name }, 'could not update the addresses of a node');
  }
}

/** One write, so that the taint is removed exactly when the node is described. The queue retries a conflict. */
async function changeNode(
  node: Cached<Node>,
  { labels, ...spec }: NodeChange,
  { client, onWritten }: CloudNodeDeps,
  signal: AbortSignal,
): Promise<void> {
  const { uid, resourceVersion } = node.metadata;
  // The version makes sure that no other taint is lost. Labels alone need none.
  const guard = spec.taints === undefined ? { uid } : { uid, resourceVersion };
  const body = { metadata: { ...guard, labels }, ...(spec.taints === undefined ? {} : { spec }) };
  const answer = await client.patch(metadataOf(Nodes), keyOf(node), { type: 'strategic', body }, signal);
  onWritten(keyOf(node), answer.metadata.resourceVersion);
}
