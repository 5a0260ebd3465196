import { isConditionTrue, isBeingDeleted, type Cached, type Node, type Pod } from '../../pkg/api/index.ts';
import { isPodFinished } from '../../pkg/pods/index.ts';
import { nodeTaints } from '../../pkg/taints/index.ts';
import { defineIndex, type Index } from '../../informers/index.ts';

/** Why a pod is force-deleted, as a metric label. */
export type Reason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled';

/** Finished and terminating pods: usually few of a cluster's pods. */
export const podsByStage: Index<Pod> = defineIndex<Pod>('podgc', (pod) => {
  const stages: string[] = [];
  if (isPodFinished(pod)) stages.push(finished);
  if (isBeingDeleted(pod.metadata)) stages.push(terminating);
  return stages;
});
export const finished = 'finished';
export const terminating = 'terminating';

export interface Selection {
  readonly terminating: readonly { readonly pod: Cached<Pod>; readonly node: Cached<Node> | undefined }[];
  readonly finished: readonly Cached<Pod>[];
  readonly terminatedThreshold: number;
}

/** The pods to force-delete, with the reason for each. */
export function selectForDeletion(selection: Selection): ReadonlyMap<Cached<Pod>, Reason> {
  const stuck = new Map<Cached<Pod>, Reason>();
  for (const { pod, node } of selection.terminating) {
    const reason = whyStuck(pod, node);
    if (reason !== undefined) stuck.set(pod, reason);
  }
  const old = selectTerminated(selection.finished, selection.terminatedThreshold).filter((pod) => !stuck.has(pod));
  return new Map([...old.map((pod) => [pod, 'terminated'] as const), ...stuck]);
}

/** The finished pods above the threshold: evicted pods first, then the oldest. */
export function selectTerminated(finishedPods: readonly Cached<Pod>[], threshold: number): readonly Cached<Pod>[] {
  const excess = finishedPods.length - threshold;
  if (threshold <= 0 || excess <= 0) return [];
  return finishedPods.toSorted(compareForCollection).slice(0, excess);
}

function compareForCollection(a: Cached<Pod>, b: Cached<Pod>): number {
  const [evictedA, evictedB] = [wasEvicted(a), wasEvicted(b)];
  if (evictedA !== evictedB) return evictedA ? -1 : 1;
  const [createdA, createdB] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (createdA !== createdB) return createdA < createdB ? -1 : 1; // one format, so the strings sort by time
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

function wasEvicted({ status }: Cached<Pod>): boolean {
  return status?.phase === 'Failed' && status.reason === 'Evicted';
}

/** Why a terminating pod is stuck; undefined while its kubelet can complete the deletion. */
export function whyStuck(pod: Cached<Pod>, node: Cached<Node> | undefined): Reason | undefined {
  if ((pod.spec.nodeName ?? '') === '') return 'unscheduled';
  if (node === undefined || isConditionTrue(node.status?.conditions, 'Ready')) return undefined;
  return (node.spec.taints ?? []).some(({ key }) => key === nodeTaints.outOfService) ? 'out-of-service' : undefined;
}

/** Whether the pod is already force-deleted and only finalizers keep it. */
export function isForceDeleted(pod: Cached<Pod>): boolean {
  return isBeingDeleted(pod.metadata) && pod.metadata.deletionGracePeriodSeconds === 0 && isPodFinished(pod);
}
