import { EndpointsKind, metadataOf, type Endpoints, type ObjectKey, type Unsaved } from '../../pkg/api/index.ts';
import { isNamespaceTerminating, isNotFound, serverMessage, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly pending: PendingWrites<Endpoints>;
}

/** Creates or updates the Endpoints of a Service. Records an event on the Endpoints after an error. */
export async function writeEndpoints(
  key: ObjectKey,
  planned: Unsaved<Endpoints>,
  { client, recorder, pending }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const isNew = planned.metadata.uid === undefined;
  const kind = metadataOf(EndpointsKind);
  try {
    const written = await (isNew ? client.create(kind, planned, signal) : client.update(kind, planned, signal));
    pending.wrote(key, written.metadata.resourceVersion);
  } catch (error) {
    if (!signal.aborted && !isNamespaceTerminating(error)) {
      const subject = { metadata: { ...planned.metadata, name: planned.metadata.name ?? '' } };
      recorder.event(EndpointsKind, subject, {
        type: 'Warning',
        reason: isNew ? 'FailedToCreateEndpoint' : 'FailedToUpdateEndpoint',
        message: isNew
          ? `Failed to create endpoint for service ${key}: ${serverMessage(error)}`
          : `Failed to update endpoint ${key}: ${serverMessage(error)}`,
      });
    }
    throw error;
  }
}

/** Deletes the Endpoints of a deleted Service. With a uid, never deletes other Endpoints of the same name. */
export async function deleteEndpoints(
  key: ObjectKey,
  uid: string | undefined,
  { client }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.delete(EndpointsKind, key, uid === undefined ? {} : { preconditions: { uid } }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
