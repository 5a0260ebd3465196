import { rm } from 'node:fs/promises';

import { isBeingDeleted, keyOf, PersistentVolumes } from '../../pkg/api/index.ts';
import { AttemptError, isNotFound, serverMessage } from '../../pkg/client/index.ts';
import { findLive } from '../../pkg/controller/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { editVolume, warning } from './actions.ts';
import { updatePhase, updateVolume, type ApplyDeps } from './apply.ts';
import { inTreeFinalizer } from './finalizers.ts';
import { deletionProblem } from './host-path.ts';
import { timePlugin } from './metrics.ts';
import { keyOfReference, type Volume } from '../../pkg/volumes/index.ts';
import { isReclaimable } from './plan-volume.ts';
import { deleterOf } from './plugins.ts';

export interface DeleteDeps extends ApplyDeps {
  readonly clock: Clock;
}

/** Deletes what a released volume stands for, and then its object. An external deleter does both by itself. */
export async function applyDelete(volume: Volume, deps: DeleteDeps, signal: AbortSignal): Promise<void> {
  const deleter = deleterOf(volume);
  if (deleter.kind === 'external') return;
  if (deleter.kind === 'none') return failVolume(volume, failed(deleter.problem), deps, signal);
  const current = await findReclaimable(volume, deps, signal);
  if (current === undefined) return;
  try {
    await deleteHostPath(volume, deps, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    await failVolume(volume, failed(serverMessage(error)), deps, signal);
    throw error;
  }
  if (!isBeingDeleted(current.metadata)) await deleteObject(volume, deps, signal);
}

const failed = (problem: string): NewEvent => warning('VolumeFailedDelete', problem);

/** The volume as the server has it; undefined if it may not be reclaimed any more. An earlier attempt may have changed it. */
export async function findReclaimable(
  volume: Volume,
  { client, claims }: ApplyDeps,
  signal: AbortSignal,
): Promise<Volume | undefined> {
  const current = await findLive(client, PersistentVolumes, keyOf(volume), signal);
  if (current === undefined) return undefined;
  const { claimRef } = current.spec;
  const claim = claimRef && claims.get(keyOfReference(claimRef));
  return isReclaimable(current, claim) ? current : undefined;
}

/** Says once what is wrong. The attempts go on. */
export async function failVolume(volume: Volume, event: NewEvent, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  if (volume.status?.phase !== 'Failed') await updatePhase(volume, { phase: 'Failed', event }, deps, signal);
}

async function deleteHostPath(volume: Volume, deps: DeleteDeps, signal: AbortSignal): Promise<void> {
  const problem = deletionProblem(volume);
  if (volume.spec.hostPath === undefined) throw new DeletionError(problem);
  await timePlugin(deps.metrics, deps.clock, 'volume_delete', async () => {
    if (problem !== undefined) throw new DeletionError(problem);
    await rm(volume.spec.hostPath?.path ?? '', { recursive: true, force: true });
  });
  const current = await deps.client.get(PersistentVolumes, keyOf(volume), signal);
  const { finalizers = [] } = current.metadata;
  if (!finalizers.includes(inTreeFinalizer)) return;
  const others = finalizers.filter((name) => name !== inTreeFinalizer);
  try {
    await updateVolume(editVolume(current, { finalizers: others }), deps, signal);
  } catch (error) {
    throw new AttemptError("persistent volume controller can't update finalizer", error);
  }
}

export async function deleteDirectory(path: string, { metrics, clock }: DeleteDeps): Promise<void> {
  await timePlugin(metrics, clock, 'volume_delete', () => rm(path, { recursive: true, force: true }));
}

async function deleteObject(volume: Volume, { client }: DeleteDeps, signal: AbortSignal): Promise<void> {
  try {
    await client.delete(PersistentVolumes, keyOf(volume), {}, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** A plugin could not delete. The event says why. */
class DeletionError extends Error {
  override readonly name = 'DeletionError';
  readonly reason = 'DeletionFailed';
}
