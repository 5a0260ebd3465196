import { isPodActive, rankForDeletion, type DeletionRanking } from '../../pkg/pods/index.ts';
import type { Cached, Pod } from '../../pkg/api/index.ts';

/** The maximum number of pods that one sync creates or deletes. */
const burstReplicas = 500;

export type ScalingPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'create'; readonly count: number }
  | { readonly kind: 'delete'; readonly pods: readonly Cached<Pod>[] };

export interface ScalingInput {
  readonly desired: number;
  readonly activePods: readonly Cached<Pod>[];
  /** Pods of all owners with the same controller, including this one. Pods on nodes with many of them are deleted first. */
  readonly relatedPods: readonly Cached<Pod>[];
  readonly nowMs: number;
  readonly honourDeletionCost: boolean;
}

/** The pods to create or delete to reach the desired number of active pods. */
export function planScaling({
  desired,
  activePods,
  relatedPods,
  nowMs,
  honourDeletionCost,
}: ScalingInput): ScalingPlan {
  const missing = desired - activePods.length;
  if (missing > 0) return { kind: 'create', count: Math.min(missing, burstReplicas) };
  if (missing === 0) return { kind: 'none' };
  const surplus = Math.min(-missing, burstReplicas);
  if (surplus === activePods.length) return { kind: 'delete', pods: activePods };
  const ranking: DeletionRanking = { crowding: crowdingBy(relatedPods), nowMs, honourDeletionCost };
  return { kind: 'delete', pods: rankForDeletion(activePods, ranking).slice(0, surplus) };
}

function crowdingBy(relatedPods: readonly Cached<Pod>[]): (pod: Cached<Pod>) => number {
  const podsOnNode = new Map<string, number>();
  for (const pod of relatedPods) {
    if (!isPodActive(pod)) continue;
    const node = pod.spec.nodeName ?? '';
    podsOnNode.set(node, (podsOnNode.get(node) ?? 0) + 1);
  }
  return (pod) => podsOnNode.get(pod.spec.nodeName ?? '') ?? 0;
}
