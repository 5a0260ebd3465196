import { isConditionTrue, isBeingDeleted, type Cached, type Node, type Pod } from '../../pkg/api/index.ts';
import { isPodFinished } from '../../pkg/pods/index.ts';
import { defineIndex, type Index } from '../../informers/index.ts';

/** Why a pod is force-deleted, as the metrics call it. */
export type Reason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled';

const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

/** The pods that a round has to look at at all; of a cluster's pods they are few. */
export const podsByStage: Index<Pod> = defineIndex<Pod>('podgc', (pod) => {
  const stages: string[] = [];
  if (isPodFinished(pod)) stages.push(finished);
  if (isBeingDeleted(pod.metadata)) stages.push(terminating);
  return stages;
});
export const finished = 'finished';
export const terminating = 'terminating';

/** Of the finished pods, those above the threshold: evicted ones first, as nobody needs them, then the oldest. */
export function selectTerminated(finishedPods: readonly Cached<Pod>[], threshold: number): readonly Cached<Pod>[] {
  const excess = finishedPods.length - threshold;
  if (threshold <= 0 || excess <= 0) return [];
  return finishedPods.toSorted(compareForCollection).slice(0, excess);
}

function compareForCollection(a: Cached<Pod>, b: Cached<Pod>): number {
  const [evictedA, evictedB] = [wasEvicted(a), wasEvicted(b)];
  if (evictedA !== evictedB) return evictedA ? -1 : 1;
  const [createdA, createdB] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (createdA !== createdB) return createdA < createdB ? -1 : 1; // the server writes them all in one format
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

function wasEvicted({ status }: Cached<Pod>): boolean {
  return status?.phase === 'Failed' && status.reason === 'Evicted';
}

/** Why a terminating pod will not go away by itself; undefined while its node can still stop it. */
export function whyStuck(pod: Cached<Pod>, node: Cached<Node> | undefined): Reason | undefined {
  if ((pod.spec.nodeName ?? '') === '') return 'unscheduled';
  if (node === undefined || isConditionTrue(node.status?.conditions, 'Ready')) return undefined;
  return (node.spec.taints ?? []).some(({ key }) => key === outOfServiceTaint) ? 'out-of-service' : undefined;
}

/** Nothing more to ask of the server: only finalizers keep the pod. */
export function isForceDeleted(pod: Cached<Pod>): boolean {
  return isBeingDeleted(pod.metadata) && pod.metadata.deletionGracePeriodSeconds === 0 && isPodFinished(pod);
}
