import {
  EndpointSlices,
  keyOf,
  metadataOf,
  type Cached,
  type EndpointSlice,
  type ObjectKey,
  type Unsaved,
} from '../api/index.ts';
import { isNotFound, serverMessage, type Client } from '../client/index.ts';
import type { SliceTracker } from './slice-tracker.ts';

export interface SliceChanges {
  readonly create: readonly Unsaved<EndpointSlice>[];
  readonly update: readonly Unsaved<EndpointSlice>[];
  readonly delete: readonly Cached<EndpointSlice>[];
}

export type SliceOperation = 'create' | 'update' | 'delete';

export interface SliceWriter {
  readonly client: Client;
  readonly tracker: SliceTracker;
  /** The Service or Endpoints of the slices. */
  readonly owner: ObjectKey;
  /** The owner in messages, such as `Service default/web`. */
  readonly ownerName: string;
  readonly onWritten: (operation: SliceOperation) => void;
}

/**
 * Creates, updates and deletes slices in this order, and stops at the first error. An endpoint that moves to another
 * slice is then in both slices for a moment, and never in neither.
 */
export async function applySliceChanges(
  changes: SliceChanges,
  { client, tracker, owner, ownerName, onWritten }: SliceWriter,
  signal: AbortSignal,
): Promise<void> {
  for (const slice of changes.create) {
    const created = await withContext(`failed to create EndpointSlice for ${ownerName}`, () =>
      client.create(metadataOf(EndpointSlices), slice, signal),
    );
    tracker.wrote(owner, created.metadata);
    onWritten('create');
  }
  for (const slice of changes.update) {
    const updated = await withContext(
      `failed to update ${slice.metadata.name ?? ''} EndpointSlice for ${ownerName}`,
      () => client.update(metadataOf(EndpointSlices), slice, signal),
    );
    tracker.wrote(owner, updated.metadata);
    onWritten('update');
  }
  for (const slice of changes.delete) {
    await withContext(`failed to delete ${slice.metadata.name} EndpointSlice for ${ownerName}`, () =>
      deleteSlice(slice, client, signal),
    );
    tracker.deleted(owner, slice);
    onWritten('delete');
  }
}

async function deleteSlice(slice: Cached<EndpointSlice>, client: Client, signal: AbortSignal): Promise<void> {
  try {
    await client.delete(EndpointSlices, keyOf(slice), { preconditions: { uid: slice.metadata.uid } }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Adds what was attempted to the error message. Users see this message in events. */
async function withContext<T>(attempted: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw new SliceWriteError(`${attempted}: ${serverMessage(error)}`, { cause: error });
  }
}

export class SliceWriteError extends Error {
  override readonly name = 'SliceWriteError';
  readonly reason = 'SliceWriteFailed';
}

/** `<service>-`, without the dash if it would make the prefix longer than a name may be. */
export function sliceNamePrefix(serviceName: string): string {
  return serviceName.length < maxNameLength ? `${serviceName}-` : serviceName;
}

const maxNameLength = 253;
