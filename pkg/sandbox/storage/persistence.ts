import type { ObjectKey, UntypedObject } from '../../api/index.ts';

export interface SavedObject {
  readonly storage: string;
  readonly key: ObjectKey;
  readonly object: UntypedObject;
  readonly version: number;
}

/** Keeps what the store holds beyond the life of the process. Writes are gathered, and become durable together. */
export interface Persistence {
  load(): { readonly version: number; readonly objects: Iterable<SavedObject> };
  put(object: SavedObject): void;
  remove(object: Omit<SavedObject, 'object'>): void;
  /** Resolves once everything given so far is on disk; undefined when it is. */
  durable(): Promise<void> | undefined;
  close(): void;
}
