import {
  keyOf,
  metadataOf,
  type Cached,
  type ObjectKey,
  type Pod,
  type ReplicaSetStatus,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isConflict, isNamespaceTerminating, isNotFound, serverMessage, type Client } from '../../pkg/client/index.ts';
import {
  asError,
  createPod,
  deletePod,
  podFromTemplate,
  slowStart,
  type PendingWrites,
  type PodControl,
} from '../../pkg/controller/index.ts';
import type { ReplicaKind, Replicated } from './replica-kinds.ts';
import type { ScalingPlan } from './scaling.ts';

interface ApplyDeps<T extends Replicated> {
  readonly control: PodControl<T>;
  readonly pending: PendingWrites<Pod>;
  /** The uids of owners whose namespace is terminating: no pod can be created for them any more. */
  readonly inTerminatingNamespace: Set<string>;
}

/** Why not all pods were created or deleted. */
export interface ScalingFailure {
  readonly error: Error;
  /** As the status tells it. */
  readonly message: string;
}

/** Creates or deletes pods as planned. Returns the first failure instead of throwing it: the status has to tell it. */
export async function applyScaling<T extends Replicated>(
  plan: ScalingPlan,
  owner: Cached<T>,
  deps: ApplyDeps<T>,
  signal: AbortSignal,
): Promise<ScalingFailure | undefined> {
  switch (plan.kind) {
    case 'none':
      return undefined;
    case 'create':
      return createPods(plan.count, owner, deps, signal);
    case 'delete':
      return deletePods(plan.pods, owner, deps, signal);
  }
}

async function createPods<T extends Replicated>(
  count: number,
  owner: Cached<T>,
  { control, pending, inTerminatingNamespace }: ApplyDeps<T>,
  signal: AbortSignal,
): Promise<ScalingFailure | undefined> {
  const { template } = (owner as Cached<Replicated>).spec;
  if (template === undefined) return undefined;
  const ownerKey: ObjectKey = keyOf(owner);
  const pod = podFromTemplate(template, control.ownerKind, owner);
  const { error } = await slowStart(count, async () => {
    const created = await createPod(control, owner, pod, signal);
    pending.wrote(ownerKey, created.metadata.resourceVersion);
  });
  if (error === undefined) return undefined;
  if (!isNamespaceTerminating(error)) return { error, message: serverMessage(error) };
  inTerminatingNamespace.add((owner as Cached<Replicated>).metadata.uid);
  return undefined;
}

async function deletePods<T extends Replicated>(
  pods: readonly Cached<Pod>[],
  owner: Cached<T>,
  { control, pending }: ApplyDeps<T>,
  signal: AbortSignal,
): Promise<ScalingFailure | undefined> {
  const ownerKey = keyOf(owner);
  const results = await Promise.allSettled(
    pods.map(async (pod) => {
      const wasThere = await deletePod(control, owner, pod, signal);
      if (wasThere) pending.deleted(ownerKey, keyOf(pod), pod.metadata.uid);
      else pending.vanished(ownerKey, keyOf(pod), pod.metadata.uid);
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return undefined;
  const error = asError(failed.reason);
  return { error, message: `unable to delete pods: ${serverMessage(error)}` };
}

/** Writes the status; after a conflict once more, on what the server has by now. Returns the version it then has. */
export async function applyStatus<T extends Replicated>(
  { kind }: ReplicaKind<T>,
  owner: Cached<T>,
  status: ReplicaSetStatus,
  client: Client,
  signal: AbortSignal,
): Promise<string | undefined> {
  const write = async (base: Cached<T>): Promise<string> => {
    const updated = { ...base, status } as unknown as Unsaved<T>;
    return (await client.updateStatus(metadataOf(kind), updated, signal)).metadata.resourceVersion;
  };
  try {
    return await write(owner);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (!isConflict(error)) throw error;
    const live = await client.get(kind, keyOf(owner), signal);
    const isSame = live.metadata.uid === (owner as Cached<Replicated>).metadata.uid;
    return isSame ? write(live as Cached<T>) : undefined;
  }
}
