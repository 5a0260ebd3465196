import {
  keyOf,
  metadataOf,
  PersistentVolumeClaims,
  PersistentVolumes,
  objectKey,
  type Cached,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../../pkg/api/index.ts';
import { AttemptError, isNotFound, serverMessage, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { EventRecorder, NewEvent } from '../../pkg/events/index.ts';
import { resizerAnnotation } from './expansion.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly pending: PendingWrites<PersistentVolumeClaim>;
}

const announced = (type: NewEvent['type'], message: string): NewEvent => ({
  type,
  reason: 'ExternalExpanding',
  message,
});

/** Says who expands the volume, to the user by an event and to the resizer by an annotation. */
export async function announceExpansion(
  claim: Cached<PersistentVolumeClaim>,
  { message, resizer }: { readonly message: string; readonly resizer?: string | undefined },
  { client, pending, recorder }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const { annotations, resourceVersion } = claim.metadata;
  recorder.event(PersistentVolumeClaims, claim, announced('Normal', message));
  if (resizer === undefined || annotations?.[resizerAnnotation] === resizer) return;
  const body = { metadata: { resourceVersion, annotations: { [resizerAnnotation]: resizer } } };
  const patch = { type: 'strategic', subresource: 'status', body } as const;
  try {
    const { metadata } = await client.patch(metadataOf(PersistentVolumeClaims), keyOf(claim), patch, signal);
    pending.wrote(keyOf(claim), metadata.resourceVersion);
  } catch (error) {
    if (isNotFound(error)) return;
    const problem = `error setting resizer annotation to pvc ${keyOf(claim)}, with error ${serverMessage(error)}`;
    if (!signal.aborted) recorder.event(PersistentVolumeClaims, claim, announced('Warning', problem));
    throw new AttemptError('set the resizer of a claim', error);
  }
}

/** The cache may have a bound claim before it has its volume. */
export function readVolume(client: Client, name: string, signal: AbortSignal): Promise<PersistentVolume> {
  return client.get(PersistentVolumes, objectKey(undefined, name), signal);
}
