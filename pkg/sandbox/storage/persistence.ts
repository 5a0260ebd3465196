import type { ObjectKey, UntypedObject } from '../../api/index.ts';

export interface SavedObject {
  readonly storage: string;
  readonly key: ObjectKey;
  readonly object: UntypedObject;
  readonly version: number;
}

/**
 * Keeps the objects of the store beyond the life of the process. Writes are batched, and a batch becomes durable as a
 * whole.
 */
export interface Persistence {
  load(): { readonly version: number; readonly objects: Iterable<SavedObject> };
  put(object: SavedObject): void;
  remove(object: Omit<SavedObject, 'object'>): void;
  /** Resolves once all writes so far are on disk; undefined if they are already. */
  durable(): Promise<void> | undefined;
  close(): void;
}
