import { keyOf, metadataOf, Pods, type Cached, type Pod } from '../../pkg/api/index.ts';
import { AttemptError, isNotFound, type Client } from '../../pkg/client/index.ts';
import { changedPodCondition, isPodFinished } from '../../pkg/pods/index.ts';
import type { Reason } from './select.ts';

/**
 * Deletes a pod without grace period. No kubelet reports its end, so its phase is set to Failed first: otherwise its
 * owner, such as a Job, would wait for it forever.
 */
export async function forceDelete(
  client: Client,
  pod: Cached<Pod>,
  { reason, nowMs }: { readonly reason: Reason; readonly nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const { uid } = pod.metadata;
  const key = keyOf(pod);
  try {
    if (!isPodFinished(pod)) {
      const body = { metadata: { uid }, status: failedStatus(pod, reason, nowMs) };
      await client.patch(metadataOf(Pods), key, { type: 'strategic', subresource: 'status', body }, signal);
    }
    await client.delete(Pods, key, { gracePeriodSeconds: 0, preconditions: { uid } }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw new AttemptError(`force-delete pod ${key}`, error);
  }
}

function failedStatus(pod: Cached<Pod>, reason: Reason, nowMs: number): object {
  const condition = reason === 'orphaned' ? changedPodCondition(pod, nodeGone, nowMs) : undefined;
  return {
    phase: 'Failed',
    observedGeneration: pod.metadata.generation,
    ...(condition === undefined ? {} : { conditions: [condition] }),
  };
}

const nodeGone = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByPodGC',
  message: 'PodGC: node no longer exists',
};
