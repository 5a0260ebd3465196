import {
  DaemonSets,
  int64Of,
  keyOf,
  metadataOf,
  ownValue,
  Pods,
  type Cached,
  type ControllerRevision,
  type DaemonSet,
  type Pod,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import {
  createRevision,
  deleteRevision,
  newRevision,
  patchRevision,
  revisionHashLabel,
} from '../../pkg/revisions/index.ts';
import { hashOf, type HistoryPlan } from './history.ts';

export interface HistoryDeps {
  readonly client: Client;
  readonly pendingRevisions: PendingWrites<ControllerRevision>;
  readonly pendingPods: PendingWrites<Pod>;
  readonly pendingStatus: PendingWrites<DaemonSet>;
}

/**
 * Creates or updates revisions as planned. Returns the hash of the current revision; undefined after a collision, when
 * the next sync tries another name.
 */
export async function applyHistory(
  plan: HistoryPlan,
  { daemonSet, pods }: { readonly daemonSet: Cached<DaemonSet>; readonly pods: readonly Cached<Pod>[] },
  deps: HistoryDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const key = keyOf(daemonSet);
  const { client, pendingRevisions } = deps;
  for (const revision of plan.unlabelled) {
    const labels = { [revisionHashLabel]: revision.metadata.name };
    const { metadata } = await patchRevision(client, revision, { labels }, signal);
    pendingRevisions.wrote(key, metadata.resourceVersion);
  }
  const { current, hash } = plan;
  if (current === undefined || hash === undefined) return createCurrent(plan, daemonSet, deps, signal);
  if (plan.duplicates.length > 0) {
    const moved = new Set(plan.duplicates.map(hashOf));
    const isMoved = ({ metadata }: Cached<Pod>): boolean =>
      moved.has(ownValue(metadata.labels, revisionHashLabel) ?? '');
    for (const pod of pods.filter(isMoved)) await relabelPod(pod, { key, hash }, deps, signal);
    await applyRevisionDeletions(plan.duplicates, daemonSet, deps, signal);
  }
  if (int64Of(current.revision) !== plan.revision) {
    const { metadata } = await patchRevision(client, current, { revision: plan.revision }, signal);
    pendingRevisions.wrote(key, metadata.resourceVersion);
  }
  return hash;
}

async function createCurrent(
  { revision }: HistoryPlan,
  daemonSet: Cached<DaemonSet>,
  deps: HistoryDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { client, pendingRevisions } = deps;
  const collisionCount = daemonSet.status?.collisionCount;
  const wanted = newRevision({
    kind: DaemonSets,
    owner: daemonSet,
    revision,
    collisionCount,
    hashLabel: revisionHashLabel,
    integers: 'int64',
  });
  const creation = await createRevision(client, wanted, signal);
  if (creation.kind === 'stored') {
    pendingRevisions.wrote(keyOf(daemonSet), creation.revision.metadata.resourceVersion);
    return hashOf(creation.revision);
  }
  await countCollision(daemonSet, deps, signal);
  return undefined;
}

class StaleCollisionCountError extends Error {
  override readonly name = 'StaleCollisionCountError';
  readonly reason = 'StaleCollisionCount';
}

/** Counts a collision of names. The live object decides: a count read from a stale cache would skip names. */
async function countCollision(
  daemonSet: Cached<DaemonSet>,
  { client, pendingStatus }: HistoryDeps,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf(daemonSet);
  const live = await client.get(DaemonSets, key, signal);
  const used = daemonSet.status?.collisionCount;
  if (live.metadata.uid !== daemonSet.metadata.uid || live.status?.collisionCount !== used) {
    throw new StaleCollisionCountError(`DaemonSet ${key}: the collision count ${used ?? 'none'} is stale`);
  }
  const status = { ...live.status, collisionCount: (used ?? 0) + 1 } as DaemonSet['status'];
  const { metadata } = await client.updateStatus(metadataOf(DaemonSets), { ...live, status } as DaemonSet, signal);
  pendingStatus.wrote(key, metadata.resourceVersion);
}

async function relabelPod(
  pod: Cached<Pod>,
  { key, hash }: { readonly key: ReturnType<typeof keyOf>; readonly hash: string },
  { client, pendingPods }: HistoryDeps,
  signal: AbortSignal,
): Promise<void> {
  const body = { metadata: { uid: pod.metadata.uid, labels: { [revisionHashLabel]: hash } } };
  try {
    const { metadata } = await client.patch(metadataOf(Pods), keyOf(pod), { type: 'merge', body }, signal);
    pendingPods.wrote(key, metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error)) throw error; // a deleted pod needs no label
  }
}

export async function applyRevisionDeletions(
  revisions: readonly Cached<ControllerRevision>[],
  daemonSet: Cached<DaemonSet>,
  { client, pendingRevisions }: Pick<HistoryDeps, 'client' | 'pendingRevisions'>,
  signal: AbortSignal,
): Promise<void> {
  for (const revision of revisions) {
    const owner = keyOf(daemonSet);
    const { uid } = revision.metadata;
    if (await deleteRevision(client, revision, signal)) pendingRevisions.deleted(owner, keyOf(revision), uid);
    else pendingRevisions.vanished(owner, keyOf(revision), uid);
  }
}
