import {
  keyOf,
  metadataOf,
  Services,
  type Cached,
  type Node,
  type ObjectKey,
  type Service,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import { ImplementedElsewhereError, retryAfterOf, type LoadBalancers } from '../../pkg/cloud/index.ts';
import { asError, type ReconcileResult } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import { describeBackends } from './backends.ts';
import { cleanupFinalizer, hasCleanupFinalizer, showsStatus, wantsLoadBalancer } from './service-rules.ts';

export interface BalancerDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly balancers: LoadBalancers;
  readonly clusterName: string;
  /** Called with the resource version of each write, so that the next sync of the Service waits for it. */
  readonly onWritten: (key: ObjectKey, resourceVersion: string) => void;
}

/** A step of a sync failed. Its message is part of an event, and equal to Go's. */
class LoadBalancerError extends Error {
  override readonly name = 'LoadBalancerError';
  readonly reason = 'LoadBalancerFailed';
}

async function step<T>(attempted: string, task: Promise<T>): Promise<T> {
  try {
    return await task;
  } catch (error) {
    throw new LoadBalancerError(`failed to ${attempted}: ${asError(error).message}`, { cause: error });
  }
}

/** Brings the load balancer into the wanted state. A failure is an event. */
export async function syncLoadBalancer(
  service: Cached<Service>,
  { isWanted, backends }: { readonly isWanted: boolean; readonly backends: readonly Cached<Node>[] },
  deps: BalancerDeps,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  try {
    await (isWanted ? ensureLoadBalancer(service, backends, deps, signal) : cleanUpLoadBalancer(service, deps, signal));
    return {};
  } catch (error) {
    if (signal.aborted) throw error;
    const message = `Error syncing load balancer: ${asError(error).message}`;
    teller(service, deps)('Warning', 'SyncLoadBalancerFailed', message);
    const requeueAfterMs = retryAfterOf(error);
    if (requeueAfterMs === undefined) throw error;
    return { requeueAfterMs };
  }
}

/** Creates or changes the load balancer. The finalizer is set first, so that no load balancer outlives its Service. */
async function ensureLoadBalancer(
  service: Cached<Service>,
  nodes: readonly Cached<Node>[],
  deps: BalancerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { balancers, clusterName } = deps;
  const tell = teller(service, deps);
  tell('Normal', 'EnsuringLoadBalancer', 'Ensuring load balancer');
  if (!hasCleanupFinalizer(service)) {
    const finalizers = { finalizers: [cleanupFinalizer] };
    await step('add load balancer cleanup finalizer', patch(service, { metadata: finalizers }, deps, signal));
  }
  if (nodes.length === 0) tell('Warning', 'UnAvailableLoadBalancer', noNodes);
  const ensuring = ignoreElsewhere(balancers.ensure({ clusterName, service, nodes }, signal));
  const status = await step('ensure load balancer', ensuring);
  if (status === undefined) return;
  tell('Normal', 'EnsuredLoadBalancer', 'Ensured load balancer');
  if (showsStatus(service, status)) return;
  const shown = patch(service, { status: { loadBalancer: { ingress: status.ingress ?? null } } }, deps, signal);
  await step('update load balancer status', ignoreGone(shown));
}

/** Deletes the load balancer of a Service that still exists, and releases the Service. */
async function cleanUpLoadBalancer(service: Cached<Service>, deps: BalancerDeps, signal: AbortSignal): Promise<void> {
  const { balancers, clusterName } = deps;
  const tell = teller(service, deps);
  const existing = balancers.get(clusterName, service, signal);
  if ((await step('check if load balancer exists before cleanup', existing)) !== undefined) {
    tell('Normal', 'DeletingLoadBalancer', 'Deleting load balancer');
    await step('delete load balancer', ignoreElsewhere(balancers.delete(clusterName, service, signal)));
  }
  // One write: after two, a crash in between would leave the address on a Service that nobody looks at again.
  if (hasCleanupFinalizer(service) || !showsStatus(service, {})) {
    const metadata = { '$deleteFromPrimitiveList/finalizers': [cleanupFinalizer] };
    const release = patch(service, { metadata, status: { loadBalancer: { ingress: null } } }, deps, signal);
    await step('remove load balancer cleanup finalizer', ignoreGone(release));
  }
  tell('Normal', 'DeletedLoadBalancer', 'Deleted load balancer');
}

/** Deletes the load balancer of a Service that is gone: somebody else removed its finalizer. */
export async function deleteOrphan(service: Cached<Service>, deps: BalancerDeps, signal: AbortSignal): Promise<void> {
  if (!wantsLoadBalancer(service)) return;
  const tell = teller(service, deps);
  tell('Normal', 'DeletingLoadBalancer', 'Deleting load balancer');
  try {
    await deps.balancers.delete(deps.clusterName, service, signal);
  } catch (error) {
    if (!signal.aborted)
      tell('Warning', 'DeleteLoadBalancerFailed', `Error deleting load balancer: ${asError(error).message}`);
    throw error;
  }
  tell('Normal', 'DeletedLoadBalancer', 'Deleted load balancer');
}

/** Changes the nodes of a load balancer. A load balancer that does not exist needs no nodes. */
export async function updateBackends(
  service: Cached<Service>,
  nodes: readonly Cached<Node>[],
  deps: BalancerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { balancers, clusterName } = deps;
  const tell = teller(service, deps);
  try {
    await balancers.update({ clusterName, service, nodes }, signal);
    if (nodes.length === 0) tell('Warning', 'UnAvailableLoadBalancer', noNodes);
    else tell('Normal', 'UpdatedLoadBalancer', 'Updated load balancer with new hosts');
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof ImplementedElsewhereError) return;
    // If this fails too, the first error is the one to report.
    const exists = await balancers.get(clusterName, service, signal).catch(() => 'unknown');
    if (exists === undefined) return;
    const hosts = `${describeBackends(nodes)} [node names limited, total number of nodes: ${nodes.length}]`;
    const message = `Error updating load balancer with new hosts ${hosts}, error: ${asError(error).message}`;
    tell('Warning', 'UpdateLoadBalancerFailed', message);
    throw error;
  }
}

const noNodes = 'There are no available nodes for LoadBalancer';

type Tell = (type: 'Normal' | 'Warning', reason: string, message: string) => void;

function teller(service: Cached<Service>, { recorder }: BalancerDeps): Tell {
  return (type, reason, message) => recorder.event(Services, service, { type, reason, message });
}

async function ignoreElsewhere<T>(task: Promise<T>): Promise<T | undefined> {
  try {
    return await task;
  } catch (error) {
    if (error instanceof ImplementedElsewhereError) return undefined;
    throw error;
  }
}

async function ignoreGone(task: Promise<void>): Promise<void> {
  try {
    await task;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** As in Go, the finalizer too is written through the status, which is all that the controller's role permits. */
async function patch(
  { metadata }: Cached<Service>,
  body: { readonly metadata?: object; readonly status?: object },
  { client, onWritten }: BalancerDeps,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf({ metadata });
  // The uid makes the server refuse the write if another Service has the name now.
  const guarded = { ...body, metadata: { ...body.metadata, uid: metadata.uid } };
  const answer = await client.patch(
    metadataOf(Services),
    key,
    { type: 'strategic', subresource: 'status', body: guarded },
    signal,
  );
  onWritten(key, answer.metadata.resourceVersion);
}
