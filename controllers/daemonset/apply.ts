import {
  DaemonSets,
  keyOf,
  metadataOf,
  type Cached,
  type DaemonSet,
  type DaemonSetStatus,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import { isConflict, isNamespaceTerminating, isNotFound, type Client } from '../../pkg/client/index.ts';
import {
  asError,
  createPod,
  deletePod,
  slowStart,
  type PendingWrites,
  type PodControl,
} from '../../pkg/controller/index.ts';
import type { EndedPod } from './manage.ts';
import { daemonPodMaker } from './new-pod.ts';
import type { SyncPlan } from './sync.ts';

export interface PodDeps {
  readonly control: PodControl<DaemonSet>;
  readonly pendingPods: PendingWrites<Pod>;
  /** The uids of DaemonSets in terminating namespaces, by key. No more pods can be created for them. */
  readonly inTerminatingNamespace: Map<ObjectKey, string>;
}

/** Creates pods, then deletes pods. Tries both and returns the first error: the status is written in any case. */
export async function applyPods(
  plan: Pick<SyncPlan, 'changes' | 'current' | 'ended'>,
  daemonSet: Cached<DaemonSet>,
  deps: PodDeps,
  signal: AbortSignal,
): Promise<Error | undefined> {
  for (const ended of plan.ended) reportEnded(ended, daemonSet, deps.control);
  const creation = await createPods(plan, daemonSet, deps, signal);
  const deletion = await deletePods(plan.changes.delete, daemonSet, deps, signal);
  return creation ?? deletion;
}

function reportEnded(
  { pod: { metadata }, nodeName, phase }: EndedPod,
  daemonSet: Cached<DaemonSet>,
  { recorder, ownerKind }: PodControl<DaemonSet>,
): void {
  const pod = `${metadata.namespace}/${metadata.name}`;
  const event =
    phase === 'Failed'
      ? {
          type: 'Warning' as const,
          reason: 'FailedDaemonPod',
          message: `Found failed daemon pod ${pod} on node ${nodeName}, will try to kill it`,
        }
      : {
          type: 'Normal' as const,
          reason: 'SucceededDaemonPod',
          message: `Found succeeded daemon pod ${pod} on node ${nodeName}, will try to delete it`,
        };
  recorder.event(ownerKind, daemonSet, event);
}

async function createPods(
  { changes: { create }, current }: Pick<SyncPlan, 'changes' | 'current'>,
  daemonSet: Cached<DaemonSet>,
  { control, pendingPods, inTerminatingNamespace }: PodDeps,
  signal: AbortSignal,
): Promise<Error | undefined> {
  const key = keyOf(daemonSet);
  if (create.length === 0 || inTerminatingNamespace.get(key) === daemonSet.metadata.uid) return undefined;
  const podOn = daemonPodMaker(daemonSet, current);
  const { error } = await slowStart(create.length, async (index) => {
    const created = await createPod(control, daemonSet, podOn(create[index] ?? ''), signal);
    pendingPods.wrote(key, created.metadata.resourceVersion);
  });
  if (error === undefined || !isNamespaceTerminating(error)) return error;
  inTerminatingNamespace.set(key, daemonSet.metadata.uid);
  return undefined;
}

async function deletePods(
  pods: readonly Cached<Pod>[],
  daemonSet: Cached<DaemonSet>,
  { control, pendingPods }: PodDeps,
  signal: AbortSignal,
): Promise<Error | undefined> {
  const key = keyOf(daemonSet);
  const results = await Promise.allSettled(
    pods.map(async (pod) => {
      const isDeleted = await deletePod(control, daemonSet, pod, signal);
      if (isDeleted) pendingPods.deleted(key, keyOf(pod), pod.metadata.uid);
      else pendingPods.vanished(key, keyOf(pod), pod.metadata.uid);
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  return failed === undefined ? undefined : asError(failed.reason);
}

/** Writes the status. After a conflict, writes it once more to the live object. Returns the new resource version. */
export async function applyStatus(
  client: Client,
  daemonSet: Cached<DaemonSet>,
  status: DaemonSetStatus,
  signal: AbortSignal,
): Promise<string | undefined> {
  const write = async (base: Cached<DaemonSet>): Promise<string> => {
    const collisionCount = base.status?.collisionCount;
    const updated = { ...base, status: { ...status, collisionCount } } as DaemonSet;
    return (await client.updateStatus(metadataOf(DaemonSets), updated, signal)).metadata.resourceVersion;
  };
  try {
    return await write(daemonSet);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (!isConflict(error)) throw error;
    const live = await client.get(DaemonSets, keyOf(daemonSet), signal);
    return live.metadata.uid === daemonSet.metadata.uid ? write(live) : undefined;
  }
}
