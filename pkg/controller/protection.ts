import {
  isBeingDeleted,
  keyOf,
  metadataOf,
  type Cached,
  type Kind,
  type KubeObject,
  type Unsaved,
} from '../api/index.ts';
import { isNotFound, type Client } from '../client/index.ts';
import type { Handler } from '../../informers/index.ts';
import type { KeySink } from './handlers.ts';
import type { PendingWrites } from './pending-writes.ts';

/** How a controller keeps objects of a kind, with its finalizer, while others use them. */
export interface Protection<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly finalizer: string;
  readonly client: Client;
  readonly pending: PendingWrites<T>;
  /** Asked about an object that is being deleted. */
  isUsed(object: Cached<T>, signal: AbortSignal): boolean | Promise<boolean>;
}

/**
 * What may have to become of the finalizer. An object that is not being deleted has it, usually from an admission plugin;
 * one that is being deleted never gets it.
 */
export function finalizerChange({ metadata }: Cached<KubeObject>, finalizer: string): 'add' | 'remove' | undefined {
  const isThere = (metadata.finalizers ?? []).includes(finalizer);
  if (isBeingDeleted(metadata)) return isThere ? 'remove' : undefined;
  return isThere ? undefined : 'add';
}

/** Enqueues objects whose finalizer may have to change, and those that are gone. */
export function enqueueProtected<T extends KubeObject>(queue: KeySink, finalizer: string): Handler<T> {
  const enqueue = (object: Cached<KubeObject>): void => {
    if (finalizerChange(object, finalizer) !== undefined) queue.add(keyOf(object));
  };
  return {
    added: (object) => enqueue(object),
    updated: (_before, after) => enqueue(after),
    deleted: (last) => queue.add(keyOf(last)), // so that what is kept for its key is dropped
  };
}

/**
 * Adds a missing finalizer, and removes it from an object that is being deleted and that nothing uses. False if it had to
 * stay because the object is used.
 */
export async function applyProtection<T extends KubeObject>(
  object: Cached<T>,
  protection: Protection<T>,
  signal: AbortSignal,
): Promise<boolean> {
  const { kind, finalizer, client, pending } = protection;
  const current = object as Cached<KubeObject>;
  const change = finalizerChange(current, finalizer);
  if (change === undefined) return true;
  if (change === 'remove' && (await protection.isUsed(object, signal))) return false;
  const others = (current.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  const finalizers = change === 'add' ? [...others, finalizer] : others;
  // An update, and so a conflict if the object has changed: the decision was made about this version of it.
  const changed = { ...current, metadata: { ...current.metadata, finalizers } };
  try {
    const { metadata } = await client.update(metadataOf(kind), changed as Unsaved<KubeObject>, signal);
    if (finalizers.length > 0) pending.wrote(keyOf(current), metadata.resourceVersion); // without any it is gone
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return true;
}
