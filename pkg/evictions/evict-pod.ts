import { keyOf, metadataOf, Pods, type Cached, type Pod, type PodCondition } from '../api/index.ts';
import { AttemptError, isNotFound, type Client } from '../client/index.ts';
import { changedPodCondition } from '../pods/index.ts';

/** Why the pod is deleted, in its DisruptionTarget condition. */
export interface EvictionCause extends Required<Pick<PodCondition, 'reason' | 'message'>> {
  /** Whether the condition says for which generation of the pod it was set. */
  readonly observesGeneration: boolean;
}

/**
 * Adds the DisruptionTarget condition, then deletes the pod. False if it was already gone. A conflict is thrown like any
 * other error: it may mean that another pod has the name, or that the API server could not complete the request.
 */
export async function evictPod(
  client: Client,
  pod: Cached<Pod>,
  { cause, nowMs }: { readonly cause: EvictionCause; readonly nowMs: number },
  signal: AbortSignal,
): Promise<boolean> {
  const key = keyOf(pod);
  const { uid } = pod.metadata;
  try {
    const { reason, message, observesGeneration } = cause;
    const condition = changedPodCondition(pod, { type: 'DisruptionTarget', status: 'True', reason, message }, nowMs);
    if (condition !== undefined) {
      const { observedGeneration, ...rest } = condition;
      const conditions = [{ ...rest, ...(observesGeneration && { observedGeneration }) }];
      const body = { metadata: { uid }, status: { conditions } };
      await client.patch(metadataOf(Pods), key, { type: 'strategic', subresource: 'status', body }, signal);
    }
    await client.delete(Pods, key, { preconditions: { uid } }, signal);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw new AttemptError(`evict pod ${key}`, error);
  }
}
