import {
  keyOf,
  metadataOf,
  type Cached,
  type ObjectKey,
  type Pod,
  type ReplicaSetStatus,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isConflict, isNamespaceTerminating, isNotFound, serverMessage } from '../../pkg/client/index.ts';
import {
  asError,
  createPod,
  deletePod,
  podFromTemplate,
  slowStart,
  type PendingWrites,
  type PodControl,
} from '../../pkg/controller/index.ts';
import type { Replicated } from './replica-kinds.ts';
import type { ScalingPlan } from './scaling.ts';

export interface ApplyDeps<T extends Replicated> {
  readonly control: PodControl<T>;
  readonly pending: PendingWrites<Pod>;
  /** The uids of owners in terminating namespaces, by key. No pod can be created for them any more. */
  readonly inTerminatingNamespace: Map<ObjectKey, string>;
}

/** Why not all pods were created or deleted. */
export interface ScalingFailure {
  readonly error: Error;
  /** The message in the owner's status. */
  readonly message: string;
}

/** Creates or deletes pods as planned. Returns the first error instead of throwing it: the status must show it. */
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
  inTerminatingNamespace.set(ownerKey, (owner as Cached<Replicated>).metadata.uid);
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
      const isDeleted = await deletePod(control, owner, pod, signal);
      if (isDeleted) pending.deleted(ownerKey, keyOf(pod), pod.metadata.uid);
      else pending.vanished(ownerKey, keyOf(pod), pod.metadata.uid);
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return undefined;
  const error = asError(failed.reason);
  return { error, message: `unable to delete pods: ${serverMessage(error)}` };
}

/** Writes the status. After a conflict, writes it once more to the live object. Returns the new resource version. */
export async function applyStatus<T extends Replicated>(
  { client, ownerKind: kind }: Pick<PodControl<T>, 'client' | 'ownerKind'>,
  owner: Cached<T>,
  status: ReplicaSetStatus,
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
