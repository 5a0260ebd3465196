import {
  keyOf,
  PersistentVolumeClaims,
  PersistentVolumes,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { AttemptError, type Client } from '../../pkg/client/index.ts';
import { RefusedError } from '../../pkg/controller/index.ts';
import type { EventRecorder, NewEvent } from '../../pkg/events/index.ts';
import { editClaim, editVolume, type Action, type ClaimStatus, type VolumePhase } from './actions.ts';
import type { Latest } from './latest.ts';
import type { BinderMetrics } from './metrics.ts';
import type { Claim, Volume } from '../../pkg/volumes/index.ts';
import type { VolumeIndex } from './volume-index.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly metrics: BinderMetrics;
  readonly claims: Latest<PersistentVolumeClaim>;
  readonly volumes: Latest<PersistentVolume>;
  readonly index: VolumeIndex;
  enqueueClaim(key: ObjectKey): void;
  /** Starts work that goes on after the sync. */
  startOperation(action: OperationAction, about: Subjects): void;
}

export type OperationAction = Extract<Action, { kind: 'provision' | 'recycle' | 'delete' }>;

/** The objects that actions are about, as the last write returned them. */
export interface Subjects {
  readonly claim?: Claim | undefined;
  readonly volume?: Volume | undefined;
}

/** Carries actions out in their order. An error ends it: the next sync starts from what is written then. */
export async function applyActions(
  actions: readonly Action[],
  subjects: Subjects,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  let current = subjects;
  for (const action of actions) current = { ...current, ...(await applyAction(action, current, deps, signal)) };
}

async function applyAction(action: Action, about: Subjects, deps: ApplyDeps, signal: AbortSignal): Promise<Subjects> {
  switch (action.kind) {
    case 'edit-volume':
      return { volume: await updateVolume(editVolume(present(about.volume), action.edit), deps, signal) };
    case 'set-volume-phase':
      return { volume: await updatePhase(present(about.volume), action, deps, signal) };
    case 'edit-claim':
      return { claim: await updateClaim(editClaim(present(about.claim), action.edit), deps, signal) };
    case 'set-claim-status':
      return { claim: await updateClaimStatus(present(about.claim), action, deps, signal) };
    case 'assign-class':
      return { claim: await assignClass(present(about.claim), action.className, deps, signal) };
    case 'record':
      if (action.about === 'claim') deps.recorder.event(PersistentVolumeClaims, present(about.claim), action.event);
      else deps.recorder.event(PersistentVolumes, present(about.volume), action.event);
      return {};
    case 'enqueue-claim':
      deps.enqueueClaim(keyOf(present(about.claim)));
      return {};
    case 'fail':
      throw new RefusedError(action.message);
    default:
      deps.startOperation(action, about);
      return {};
  }
}

/** A plan acts on objects of its snapshot only. */
function present<T>(object: T | undefined): T {
  if (object === undefined) throw new TypeError('the plan acts on an object that its snapshot lacks');
  return object;
}

export async function updateVolume(volume: Volume, deps: ApplyDeps, signal: AbortSignal): Promise<Volume> {
  const saved = await deps.client.update(PersistentVolumes, volume as Unsaved<PersistentVolume>, signal);
  return keepVolume(saved, deps);
}

export function keepVolume(saved: PersistentVolume, { volumes, index }: ApplyDeps): Volume {
  volumes.wrote(saved);
  index.set(keyOf(saved), volumes.get(keyOf(saved)));
  return saved;
}

/** The message of the event is the message of the phase too. */
export async function updatePhase(
  volume: Volume,
  { phase, event }: { readonly phase: VolumePhase; readonly event?: NewEvent },
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<Volume> {
  const status = { ...volume.status, phase, message: event?.message };
  const changed = { ...volume, status } as Unsaved<PersistentVolume>;
  const saved = keepVolume(await deps.client.updateStatus(PersistentVolumes, changed, signal), deps);
  if (event !== undefined) deps.recorder.event(PersistentVolumes, saved, event);
  return saved;
}

export async function updateClaim(claim: Claim, { client, claims }: ApplyDeps, signal: AbortSignal): Promise<Claim> {
  const saved = await client.update(PersistentVolumeClaims, claim as Unsaved<PersistentVolumeClaim>, signal);
  claims.wrote(saved);
  return saved;
}

async function updateClaimStatus(
  claim: Claim,
  { status, event }: { readonly status: ClaimStatus; readonly event?: NewEvent },
  { client, claims, recorder }: ApplyDeps,
  signal: AbortSignal,
): Promise<Claim> {
  const changed = { ...claim, status } as Unsaved<PersistentVolumeClaim>;
  const saved = await client.updateStatus(PersistentVolumeClaims, changed, signal);
  claims.wrote(saved);
  if (event !== undefined) recorder.event(PersistentVolumeClaims, saved, event);
  return saved;
}

async function assignClass(claim: Claim, className: string, deps: ApplyDeps, signal: AbortSignal): Promise<Claim> {
  deps.metrics.assignedClasses.inc();
  try {
    return await updateClaim(editClaim(claim, { storageClassName: className }), deps, signal);
  } catch (error) {
    deps.metrics.failedClasses.inc();
    throw new AttemptError(`assigning the default class to claim ${keyOf(claim)}`, error);
  }
}
