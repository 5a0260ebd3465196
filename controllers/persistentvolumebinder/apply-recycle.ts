import { CoreEvents, keyOf, PersistentVolumes, Pods, type Pod, type Unsaved } from '../../pkg/api/index.ts';
import { isAlreadyExists, isNotFound, serverMessage } from '../../pkg/client/index.ts';
import { podsByClaim } from '../../pkg/controller/index.ts';
import { isPodStopped } from '../../pkg/pods/index.ts';
import type { Store } from '../../informers/index.ts';
import { normal, warning } from './actions.ts';
import { applyActions, type ApplyDeps } from './apply.ts';
import { failVolume, findReclaimable } from './apply-delete.ts';
import { planUnbind } from './binding.ts';
import { keyOfReference, type Volume } from '../../pkg/volumes/index.ts';
import type { PodWatch } from './pod-watch.ts';
import { composeRecyclerPod, type Recyclers } from './recycler-pod.ts';

export interface RecycleDeps extends ApplyDeps {
  readonly pods: Pick<Store<Pod>, 'byIndex'>;
  readonly podWatch: PodWatch;
  readonly recyclers: Recyclers;
}

/** Empties a released volume with a pod, and makes it available again. */
export async function applyRecycle(given: Volume, deps: RecycleDeps, signal: AbortSignal): Promise<void> {
  const volume = await findReclaimable(given, deps, signal);
  if (volume === undefined || isUsed(volume, deps)) return;
  const pod = composeRecyclerPod(volume, deps.recyclers);
  const fail = (problem: string): Promise<void> =>
    failVolume(volume, warning('VolumeFailedRecycle', problem), deps, signal);
  if (pod === undefined) return fail('No recycler plugin found for the volume!');
  const problem = await runRecycler(pod, volume, deps, signal);
  if (problem !== undefined) return fail(`Recycle failed: ${problem}`);
  deps.recorder.event(PersistentVolumes, volume, normal('VolumeRecycled', 'Volume recycled'));
  await applyActions(planUnbind(volume), { volume }, deps, signal);
}

/** Pods of the claim that is gone may still run. Those of another claim of its name use another volume. */
function isUsed(volume: Volume, { pods, claims, recorder }: RecycleDeps): boolean {
  const { claimRef } = volume.spec;
  if (claimRef === undefined) return false;
  const key = keyOfReference(claimRef);
  const users = pods
    .byIndex(podsByClaim, key)
    .filter((pod) => !isPodStopped(pod))
    .map(keyOf)
    .sort();
  if (users.length === 0 || claims.get(key) !== undefined) return false;
  const message = `Volume is used by pods: ${users.join(',')}`;
  recorder.event(PersistentVolumes, volume, normal('VolumeFailedRecycle', message));
  return true;
}

/** Runs the pod to its end. Why the volume is not recycled; undefined if it is. The pod is deleted in any case. */
async function runRecycler(
  pod: Unsaved<Pod>,
  volume: Volume,
  deps: RecycleDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const following = new AbortController();
  const followed = followEvents(pod, volume, deps, AbortSignal.any([signal, following.signal]));
  try {
    const created = await createPod(pod, deps, signal);
    if (typeof created === 'string') return created;
    const problem = await deps.podWatch.untilFinished(created, signal);
    const left = await deletePod(pod, deps, signal);
    if (problem !== undefined) return `failed to recycle volume: ${problem}`;
    return left === undefined ? undefined : `failed to delete recycler pod: ${left}`;
  } finally {
    following.abort();
    await followed;
  }
}

/** The pod, or why there is none. One that is there already may be of an earlier attempt, or forged: it is deleted. */
async function createPod(pod: Unsaved<Pod>, deps: RecycleDeps, signal: AbortSignal): Promise<Pod | string> {
  try {
    return await deps.client.create(Pods, pod, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    if (!isAlreadyExists(error)) return `unexpected error creating recycler pod:  ${serverMessage(error)}`;
    const left = await deletePod(pod, deps, signal);
    const { namespace, name } = pod.metadata;
    if (left !== undefined) return `failed to delete old recycler pod ${namespace}/${name}: ${left}`;
    return 'old recycler pod found, will retry later';
  }
}

/** Why the pod could not be deleted. */
async function deletePod(pod: Unsaved<Pod>, { client }: RecycleDeps, signal: AbortSignal): Promise<string | undefined> {
  try {
    await client.delete(Pods, keyOf(pod), {}, signal);
    return undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    return isNotFound(error) ? undefined : serverMessage(error);
  }
}

/** Repeats the events of the pod on the volume, where its owner looks. Until the signal aborts, or the watch ends. */
async function followEvents(pod: Unsaved<Pod>, volume: Volume, deps: RecycleDeps, signal: AbortSignal): Promise<void> {
  const { namespace, name } = pod.metadata;
  try {
    for await (const event of deps.client.watch(
      CoreEvents,
      { namespace, fieldSelector: `involvedObject.name=${name}` },
      signal,
    )) {
      if (event.type !== 'ADDED') continue;
      const { type, message = '' } = event.object;
      const repeated = {
        type: type === 'Warning' ? 'Warning' : 'Normal',
        reason: 'RecyclerPod',
        message: `Recycler pod: ${message}`,
      } as const;
      deps.recorder.event(PersistentVolumes, volume, repeated);
    }
  } catch {
    // Without its events, the pod is recycled all the same.
  }
}
